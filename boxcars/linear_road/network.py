"""The network of Linear Road: five queries over one stream, as ordinary boxes."""

from __future__ import annotations

from boxcars.linear_road.expenditure import Expenditure
from boxcars.linear_road.facts import COLUMNS
from boxcars.linear_road.modules import MINUTE, accidents, accounts, cars, statistics, tolls
from boxcars.linear_road.travel import TravelTime
from boxcars.model.network import Network
from boxcars.model.window import time


def build(past: str = "", tolls_of_days: str = "") -> Network:
    """All queries; ``past`` and ``tolls_of_days`` are the files with the history."""
    net = Network("linear-road")
    net.table("segments", fields={"segment": "int"}, key="segment")
    for body in (cars(), accidents(), statistics(), tolls(), accounts()):
        net.superbox(body)
    road = net.input("road", ts="time", fields=dict.fromkeys(COLUMNS, "int"))
    positions, balances, days, trips = road.filter(
        "type = 0", "type = 2", "type = 3", "type = 4"
    ).named("kinds")
    reports = positions.map(
        time="time",
        vid="vid",
        spd="spd",
        lane="lane",
        segment="(xway * 2 + dir) * 100 + seg",
        spot="((xway * 2 + dir) * 5 + lane) * 528000 + pos",
    ).named("reports")
    driven = reports.use("cars").named("cars")
    ahead = driven["stopped"].use("accidents").named("accidents")
    minutes = reports.aggregate(time(MINUTE), reports="count()").named("minutes")
    every = minutes.read("SELECT segment FROM segments").named("every-segment")
    segments = every.map(time="time", segment="segment").named("segments")
    latest = reports.use("statistics", ahead, segments).named("statistics")
    charged = driven["moves"].use("tolls", latest).named("tolls")
    net.output("tolls", charged["tolls"])
    net.output("accidents", charged["accidents"])
    asked = balances.map(time="time", vid="vid", qid="qid").named("asked")
    net.output("balances", charged["charges"].use("accounts", asked).named("accounts"))
    spent = days.custom(Expenditure, tolls=tolls_of_days).named("expenditure")
    net.output("expenditures", spent)
    net.output("travel_times", trips.custom(TravelTime, past=past).named("travel-time"))
    return net
