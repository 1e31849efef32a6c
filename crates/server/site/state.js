// The settings of the page: where they start, and how an address holds them.

import { desk, state } from './desk.js';

export const SPEEDS = [0.5, 1, 2, 4, 8, 15, 30, 60, 150, 500, 2000, 10000, 50000];
const LONGEST_SHARED = 6000;
const PLAIN = {
  data: 'lecture', n: 200, noise: 0, dseed: 1, test: '0', label: '', cols: '', scaled: '', points: '', classes: 'minus,plus', text: '', table: '',
  order: 'given', seed: 0, epochs: 100, bias: 'learned', start: '', mistake: '', zero: '', multiclass: '',
  speed: 3, round: 0, hide: '', lesson: '', theme: '', story: '',
};
const NUMBERS = Object.keys(PLAIN).filter((name) => typeof PLAIN[name] === 'number');
/** What is no part of an experiment, so that a change of it is nothing to go back from. */
const LOOKS = ['speed', 'round', 'hide', 'lesson', 'theme', 'story'];
export const LEARNERS = ['perceptron/last'];
/** Measured columns have units of their own, and files are often sorted by class: `train` scales and shuffles, too. */
const MEASURED = { scaled: '1', order: 'shuffle-epoch' };
const STARTS = { lecture: { bias: 'none' }, iris: MEASURED, penguins: MEASURED, file: MEASURED };

export const isMeasured = (data) => STARTS[data] === MEASURED;

/** The settings that rows start with; conventions are the engine's own. */
export function usual(data) {
  const { mistake, zero, multiclass, seed } = desk.catalogue.defaults;
  return { ...PLAIN, mistake, zero, multiclass, seed, ...STARTS[data], data };
}

/** Other rows, with the settings that suit them; what is only looked at stays. */
export function choose(data, more = {}) {
  const kept = Object.fromEntries(['n', 'noise', 'dseed', 'test', 'seed', 'points', 'classes', ...LOOKS].map((name) => [name, state[name]]));
  Object.assign(state, usual(data), kept, { round: 0, story: '' }, more);
}

/** Whether the experiment is the one that these words of an address describe. */
export function isStill(address) {
  const given = new URLSearchParams(address), now = new URLSearchParams(words(false));
  for (const name of LOOKS) given.delete(name);
  const learners = given.has('learner') ? given.getAll('learner') : LEARNERS;
  return [...now.keys()].every((name) => name === 'learner' || given.has(name))
    && [...given].every(([name, value]) => name === 'learner' || String(state[name]) === value)
    && learners.join('&') === state.learners.join('&');
}

/** The tables that were opened, by name: an address that is gone back to finds them again. */
export const files = new Map();

/** The settings as an address holds them; without those of the looks, as an experiment. */
export function words(all = true) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(usual(state.data))) {
    if (name !== 'text' && (all || !LOOKS.includes(name)) && String(state[name]) !== String(value)) params.set(name, state[name]);
  }
  if (state.data !== PLAIN.data) params.set('data', state.data);
  if (state.data !== 'points') { params.delete('points'); params.delete('classes'); }
  if (state.data === 'file') {
    const bytes = files.get(state.table);
    const text = bytes ? new TextDecoder().decode(bytes.slice(0, LONGEST_SHARED + 1)) : state.text;
    if (text && text.length <= LONGEST_SHARED) params.set('text', text);
  }
  for (const learner of state.learners) params.append('learner', learner);
  return params.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%3B', ';');
}

export function readLink(hash) {
  const params = new URLSearchParams(hash.slice(1));
  const data = params.has('text') || params.has('table') ? 'file' : params.get('data') ?? PLAIN.data;
  const start = usual(data);
  for (const name of Object.keys(start)) state[name] = name !== 'data' && params.has(name) ? params.get(name) : start[name];
  for (const name of NUMBERS) state[name] = Number.isFinite(+state[name]) ? +state[name] : start[name];
  state.speed = Math.max(0, Math.min(SPEEDS.length - 1, Math.round(state.speed)));
  state.learners = params.getAll('learner').slice(0, 4);
  if (!state.learners.length) state.learners = [...LEARNERS];
}
