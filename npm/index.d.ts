// Types of Rosenblatt in JavaScript. The settings are in settings.d.ts.

import type { ReadingSettings, TrainingSettings } from './settings.js';

export type { ReadingSettings, TrainingSettings } from './settings.js';

/** A row of a table: its cells by column. `null`, `undefined` and `NaN` are missing values. */
export type Row = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/** Rows, or the text or the bytes of a file: CSV, TSV, lines of text, plain or packed by gzip. */
export type Data = string | Uint8Array | ArrayBuffer | readonly Row[];

/** What a file is called. It is named in errors, and its ending says the format. */
export interface Named {
  readonly name?: string;
}

/** How to train: every setting by the name of its flag, `maxUpdates` for `--max-updates`. */
export type TrainOptions = TrainingSettings & Named;

/** How to read a file. What the model knows of it, it decides. */
export type ReadOptions = ReadingSettings & Named;

/** What to prove, and how to read the file. */
export interface CertifyOptions extends ReadingSettings, Named {
  /** The class on the positive side. Without it, every class is learned against the others. */
  readonly positive?: string;
  /** The class on the other side; all others if it is left out. */
  readonly against?: string;
  /** Whether the hyperplane may lie anywhere, or goes through the origin. Default: true. */
  readonly bias?: boolean;
  /** How far the bounds of the largest margin may be apart, as a share of it. Default: 1e-6. */
  readonly gap?: number;
  /** Ask in the space of the polynomial kernel `(offset + x.y)^degree`. */
  readonly degree?: number;
  /** The offset of that kernel. Default: 1. */
  readonly offset?: number;
  /** The number of steps after which a question is left open. Default: 1,000,000. */
  readonly steps?: number;
}

/** A part of a report. The names are those of the program's JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** How good a model of classes is on some rows. */
export interface Evaluation {
  /** Rows that were judged. */
  rows: number;
  /** Those with a wrong class. */
  errors: number;
  /** The share of them. */
  error: number;
  [name: string]: Json;
}

/** How good a model of numbers is on some rows. */
export interface NumberEvaluation {
  [name: string]: Json;
}

/** What `rosenblatt train --json` says of a training. */
export interface Report {
  /** What was read. */
  data: { source: string; rows: number; features: number; notes: string[]; [name: string]: Json };
  /** How good the model is on rows it did not learn from; `null` if none were held out. */
  'held-out'?: Evaluation | NumberEvaluation | null;
  /** How good it is on the rows it learned from. */
  training?: Evaluation | NumberEvaluation | null;
  /** What was trained. */
  spec: { algorithm: string; [name: string]: Json };
  [name: string]: Json | Evaluation | NumberEvaluation | undefined;
}

/** A trained model. */
export class Model {
  private constructor();
  /** The file of the model, byte for byte what the program saves. */
  readonly bytes: Uint8Array;
  /** What was found out when it was trained; `null` of a model that was loaded. */
  readonly report: Report | null;
  /** Whether it predicts classes or numbers. */
  readonly task: 'classes' | 'numbers' | 'tags';
  /** The names of the classes, in their order. */
  readonly classes: string[];
  /** The names of the features; `null` if they have none. */
  readonly features: string[] | null;
  /** The number of features. */
  readonly width: number;
  /** Whether it has probabilities. */
  readonly hasProbabilities: boolean;
  /** The class of each row, or its number; `null` where a row was left out for a missing value. */
  predict(data: Data, options?: ReadOptions): (string | null)[] | (number | null)[];
  /** The probability of each class, by name, for each row. */
  probabilities(data: Data, options?: ReadOptions): (Record<string, number> | null)[];
  /** The score of the second of two classes, or of each class, for each row. */
  scores(data: Data, options?: ReadOptions): (number[] | null)[];
  /** How good it is on rows with labels. */
  evaluate(data: Data, options?: ReadOptions): Evaluation | NumberEvaluation;
  /** What the model is, with at most `most` features of every class. */
  summary(most?: number): { [name: string]: Json };
  /** Gives its memory back now. Without this, that happens once nothing refers to the model. */
  free(): void;
}

/** A question whether a hyperplane separates classes, with its answer. */
export interface Study {
  /** What was found out: the verdict, the bounds of the largest margin, the rows that decide. */
  findings: {
    verdict: 'separable' | 'inseparable' | 'undecided';
    positive: string;
    negative: string | null;
    margin: { 'at-least': number; 'at-most': number; gap: number } | null;
    [name: string]: Json;
  };
  /** The proof, which `check` and `rosenblatt certify --check` verify; `null` if the question is open. */
  certificate: Certificate | null;
}

/** A claim about rows and its proof, in exact numbers. */
export interface Certificate {
  [name: string]: Json;
}

/** Trains on a file or on rows, exactly as `rosenblatt train` does. */
export function train(data: Data, options?: TrainOptions): Promise<Model>;

/** The model in these bytes. */
export function load(bytes: Uint8Array | ArrayBuffer): Promise<Model>;

/** Whether hyperplanes separate the classes, each question with its proof. */
export function certify(data: Data, options?: CertifyOptions): Promise<Study[]>;

/** Checks a certificate against the rows it is about, exactly; rejects with the reason if it does not hold. */
export function check(
  certificate: Certificate,
  data: Data,
  options?: ReadOptions,
): Promise<{ positive: string; negative: string | null }>;
