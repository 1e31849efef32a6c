// Rosenblatt in JavaScript: what the engine answers, as values. Types and meaning: index.d.ts.

import { module } from '#module';
import { talk } from './engine.js';

const encoder = new TextEncoder();

let loading;
let compiled;
let shared;

/** Fetches and compiles the engine, once. */
async function ready() {
  loading ??= module();
  try {
    compiled = await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** An engine of its own, whose memory goes once it is no longer referenced. */
const fresh = () => talk(new WebAssembly.Instance(compiled, {}));

/** What `work` makes of an engine; what breaks it, such as a lack of memory, is an error like others. */
function guarded(engine, work) {
  try {
    return work(engine);
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    if (engine === shared) shared = undefined;
    throw new Error(`the engine broke off, perhaps for lack of memory: ${error.message}`, { cause: error });
  }
}

/** A cell of a table as CSV. */
function cell(value, row, column) {
  const place = `row ${row + 1}, \`${column}\``;
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${place}: ${value} is no number to learn from`);
      return String(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'string':
      return /[",;\t\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    default:
      throw new TypeError(`${place}: a cell should be a number, a text or a boolean, but is ${typeof value}`);
  }
}

/** The bytes of a file, and what to call it. */
function source(data, name) {
  if (typeof data === 'string') return [encoder.encode(data), name ?? 'data'];
  if (data instanceof Uint8Array) return [data, name ?? 'data'];
  if (data instanceof ArrayBuffer) return [new Uint8Array(data), name ?? 'data'];
  const isRow = (row) => typeof row === 'object' && row !== null && !Array.isArray(row);
  if (!Array.isArray(data) || !data.every(isRow)) {
    throw new TypeError('expected the text or the bytes of a file, or rows: an array of objects');
  }
  const columns = [...new Set(data.flatMap(Object.keys))];
  const lines = data.map((row, place) => columns.map((column) => cell(row[column], place, column)).join(',') || '""');
  const header = columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(',');
  return [encoder.encode([header, ...lines, ''].join('\n')), name ?? 'rows.csv'];
}

/** Models that are no longer referenced leave the engine. */
const registry = new FinalizationRegistry(({ engine, model }) => {
  if (engine === shared) engine.ask({ do: 'close', model });
});

export class Model {
  #bytes;
  #engine;
  #summary;

  constructor(bytes, report) {
    this.#bytes = bytes;
    this.report = report ?? null;
    this.#here();
  }

  /** The engine with this model in it: the one of all models, or a new one if that broke. */
  #here() {
    if (this.#bytes === null) throw new Error('the model was freed');
    shared ??= fresh();
    if (this.#engine !== shared) {
      this.#summary = guarded(shared, (engine) => engine.ask({ do: 'open' }, this.#bytes));
      this.#engine = shared;
      registry.register(this, { engine: shared, model: this.#summary.model }, this);
    }
    return shared;
  }

  #ask(what, data, { name, ...settings } = {}) {
    const [bytes, called] = source(data, name);
    return guarded(this.#here(), (engine) => {
      const { model } = this.#summary;
      const { rows, width } = engine.ask({ do: 'predict', model, what, name: called, settings }, bytes);
      return { rows, width, numbers: engine.numbers(rows * width) };
    });
  }

  #rows(what, data, options) {
    const { rows, width, numbers } = this.#ask(what, data, options);
    return Array.from({ length: rows }, (_, row) => {
      const of = numbers.slice(row * width, (row + 1) * width);
      return Number.isNaN(of[0]) ? null : of;
    });
  }

  get bytes() {
    this.#here();
    return this.#bytes.slice();
  }

  get task() {
    return this.#summary.task;
  }

  get classes() {
    return [...this.#summary.classes];
  }

  get features() {
    return this.#summary.features === null ? null : [...this.#summary.features];
  }

  get width() {
    return this.#summary.width;
  }

  get hasProbabilities() {
    return this.#summary['has-probabilities'];
  }

  predict(data, options) {
    const { numbers } = this.#ask('answers', data, options);
    const answer = this.task === 'numbers' ? (number) => number : (number) => this.#summary.classes[number];
    return Array.from(numbers, (number) => (Number.isNaN(number) ? null : answer(number)));
  }

  probabilities(data, options) {
    const { classes } = this.#summary;
    return this.#rows('probabilities', data, options).map(
      (of) => of && Object.fromEntries(classes.map((name, place) => [name, of[place]])),
    );
  }

  scores(data, options) {
    return this.#rows('scores', data, options).map((of) => of && Array.from(of));
  }

  evaluate(data, { name, ...settings } = {}) {
    const [bytes, called] = source(data, name);
    return guarded(this.#here(), (engine) =>
      engine.ask({ do: 'evaluate', model: this.#summary.model, name: called, settings }, bytes),
    );
  }

  summary(most = 10) {
    return guarded(this.#here(), (engine) => engine.ask({ do: 'summary', model: this.#summary.model, most }));
  }

  free() {
    if (this.#bytes === null) return;
    registry.unregister(this);
    if (this.#engine === shared) guarded(shared, (engine) => engine.ask({ do: 'close', model: this.#summary.model }));
    this.#bytes = null;
  }
}

export async function train(data, { name, ...settings } = {}) {
  await ready();
  const [bytes, called] = source(data, name);
  return guarded(fresh(), (engine) => {
    const { report, bytes: length } = engine.ask({ do: 'train', name: called, settings }, bytes);
    return new Model(engine.bytes(length), report);
  });
}

export async function load(bytes) {
  await ready();
  return new Model(new Uint8Array(bytes));
}

export async function certify(data, { name, ...settings } = {}) {
  await ready();
  const [bytes, called] = source(data, name);
  return guarded(fresh(), (engine) => engine.ask({ do: 'certify', name: called, settings }, bytes).studies);
}

export async function check(certificate, data, { name, ...settings } = {}) {
  await ready();
  const [bytes, called] = source(data, name);
  return guarded(fresh(), (engine) => engine.ask({ do: 'check', certificate, name: called, settings }, bytes));
}
