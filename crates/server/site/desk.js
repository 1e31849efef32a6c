// What all parts of the page share: the settings, what the engine says of them, and a few helpers.

export const $ = (id) => document.getElementById(id);

/** The settings: what the address holds. */
export const state = {};

/** The engine's answers, and what is on the screen. */
export const desk = {
  engine: null, catalogue: null,
  table: null, // what the engine says of the rows
  places: new Float64Array(0), // x, y, class of every row
  classes: [], // the names of the classes, and of those that points can get
  isTest: new Uint8Array(0),
  learners: [], // what the engine says of the learners
  panels: [], // a picture for each of them
  proof: null, proofError: null,
  extent: [-1, 1, -1, 1], frame: [-1, 1, -1, 1], // what the rows take up of the plane, and what is seen
  playing: false,
  cross: null, // where the keyboard's cross is
};

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== 'list') made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Asked many times a frame, and changed with the theme alone.
const colours = new Map();
export const forgetColours = () => colours.clear();
export function css(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}
/** How the lines of a learner look: hues are classes, so these differ in tone and dashes. */
export const lineOf = (place, isHeldOut = false) => ({
  stroke: css(place % 2 ? '--second' : '--ink'),
  dash: isHeldOut ? (place < 2 ? [1.5, 3] : [7, 3, 1.5, 3]) : (place < 2 ? [] : [8, 4]),
});

/** Digits with their thousands apart. */
export const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ',');
/** A whole number as it is read: 30,162. */
export const count = (n) => grouped(String(n));
export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
/** A sentence of the engine with its numbers and plurals as they are read; names in backticks and places in files stay. */
export const readable = (text) => text.split(/(`[^`]*`)/).map((part, i) => (i % 2 ? part : part
  .replace(/(\d+) (\w+)\(s\)/g, (_, n, what) => counted(+n, what))
  .replace(/\b1 row lack a value and were\b/, '1 row lacks a value and was').replace(/\b1 row cannot be read and were\b/, '1 row cannot be read and was')
  .replace(/(?<![\w.,:])\d{4,}(?![\w.]*\w)/g, grouped))).join('');

export const say = (words) => { $('status').textContent = words; };

export function trouble(error) {
  const words = error ? readable(String(error.message ?? error)) : '';
  $('trouble').textContent = words;
  $('trouble').hidden = !words;
  if (error instanceof WebAssembly.RuntimeError) $('trouble').textContent = `the engine stopped: ${words}; reload the page`;
}
