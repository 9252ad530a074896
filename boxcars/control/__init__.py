"""Controllers: pure functions from what a run looks like to decisions about its next epoch."""
