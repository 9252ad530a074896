/** Short names for the types generated from the API. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type About = Schemas["About"];
export type ArcRows = Schemas["ArcRows"];
export type ArcSchema = Schemas["ArcSchema"];
export type AskCompile = Schemas["AskCompile"];
export type AskComplete = Schemas["AskComplete"];
export type AskInjector = Schemas["AskInjector"];
export type AskModify = Schemas["AskModify"];
export type AskPlan = Schemas["AskPlan"];
export type AskPreview = Schemas["AskPreview"];
export type AskRun = Schemas["AskRun"];
export type AskStep = Schemas["AskStep"];
export type BoxInfo = Schemas["BoxInfo"];
export type BoxPorts = Schemas["BoxPorts"];
export type Case = Schemas["Case"];
export type CaseResult = Schemas["CaseResult"];
export type Change = Schemas["Change"];
export type ChangeInjector = Schemas["ChangeInjector"];
export type CheckAnswer = Schemas["CheckAnswer"];
export type Compiled = Schemas["Compiled"];
export type Completion = Schemas["Completion"];
export type DataFile = Schemas["DataFile"];
export type Diff = Schemas["Diff"];
export type Document = Schemas["Document"];
export type Enqueue = Schemas["Enqueue"];
export type Event = Schemas["Event"];
export type HistoryAnswer = Schemas["HistoryAnswer"];
export type Injector = Schemas["Injector"];
export type InjectorSource = Schemas["InjectorSource"];
export type InputData = Schemas["InputData"];
export type KeptCases = Schemas["KeptCases"];
export type NetworkFile = Schemas["NetworkFile"];
export type OutputRows = Schemas["OutputRows"];
export type Palette = Schemas["Palette"];
export type ParamInfo = Schemas["ParamInfo"];
export type PlanAnswer = Schemas["PlanAnswer"];
export type PlanSubquery = Schemas["PlanSubquery"];
export type Preview = Schemas["Preview"];
export type Problem = Schemas["Problem"];
export type Regrouped = Schemas["Regrouped"];
export type Run = Schemas["Run"];
export type SaveNetwork = Omit<Schemas["SaveNetwork"], "network">;
export type Sample = Schemas["Sample"];
export type StateTable = Schemas["StateTable"];
export type Stats = Schemas["Stats"];
export type Strategy = PlanAnswer["strategy"];
export type TemplateInfo = Schemas["TemplateInfo"];
export type Watched = Schemas["Watched"];
export type WriteFormat = Schemas["WriteNetwork"]["format"];
export type ReadFormat = NonNullable<Schemas["ReadText"]["format"]>;

export type Row = Record<string, unknown>;
