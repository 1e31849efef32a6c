// The playground: what is on the page, and what the engine is asked for it.
// It computes nothing about learning: every number comes from the engine, which is the one of the command line.

import { start } from './engine.js';
import { CanvasPen, SvgPen, LEARNER_COLOURS, across, colourOf, number, tick } from './draw.js';

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.5, 1, 2, 4, 8, 15, 30, 60, 150, 500, 2000, 10000, 50000];
const DEFAULTS = {
  data: 'lecture', n: 200, noise: 0, dseed: 1, test: '0', label: '', cols: '', scaled: '', points: '', classes: 'minus,plus', text: '',
  order: 'given', seed: 0, epochs: 100, bias: 'learned', mistake: 'le0', zero: 'wrong', multiclass: 'one-vs-rest',
  speed: 3, round: 0, hide: '', lesson: '', theme: '',
};
// The columns that measured flowers and birds are seen by at first.
const SEEN = { iris: ['petal_length', 'petal_width'], penguins: ['bill_length_mm', 'flipper_length_mm'] };
const MOST_EDITED = 2000;
const LONGEST_SHARED = 6000;

let engine, catalogue;
const state = { ...DEFAULTS, learners: ['perceptron/last'] };
let file = null; // { name, bytes } of a table of yours
let table = null; // what the engine says of the rows
let places = new Float64Array(0); // x, y, class of every row
let isTest = new Uint8Array(0);
let learners = []; // what the engine says of the learners
let panels = [];
let proof = null, proofError = null;
let frame = [-1, 1, -1, 1];
let playing = false, owed = 0, last = 0, recorder = null;
let cross = null; // where the keyboard's cross is
let dirtyLink = 0;
const frames = []; // how long the last ones took

// ---------------------------------------------------------------------------------------------- small helpers

function el(tag, attributes = {}, ...children) {
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
function css(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}
const say = (words) => { $('status').textContent = words; };
const vector = (list) => `(${list.slice(0, 6).map(number).join(', ')}${list.length > 6 ? ', …' : ''})`;
const percent = (share) => (share === null || share === undefined ? '–' : `${number(Math.round(1000 * share) / 10)} %`);

function trouble(error) {
  const words = error ? String(error.message ?? error) : '';
  $('trouble').textContent = words;
  $('trouble').hidden = !words;
  if (error instanceof WebAssembly.RuntimeError) $('trouble').textContent = `the engine stopped: ${words}; reload the page`;
}
/** Does what it is told, and shows the engine's complaint if there is one. */
function attempt(work) {
  try { const done = work(); trouble(null); return done; } catch (error) { trouble(error); pause(); return undefined; }
}

// ---------------------------------------------------------------------------------------------- learners by name

/** `perceptron/averaged/kernel:rbf,gamma=2/C=1` as the engine's options. */
function optionsOf(words) {
  const [algorithm, ...parts] = words.split('/');
  const options = {
    algorithm, params: {}, order: state.order, seed: +state.seed, epochs: +state.epochs, bias: state.bias,
    mistake: state.mistake, zero: state.zero, multiclass: state.multiclass,
  };
  const settings = (text) => Object.fromEntries(text.map((pair) => {
    const [name, value] = pair.split('=');
    return [name, Number.isNaN(+value) ? value : +value];
  }));
  for (const part of parts) {
    if (part.startsWith('kernel:')) {
      const [name, ...rest] = part.slice(7).split(',');
      options.kernel = { name, params: settings(rest) };
      options.bias = 'none';
    } else if (part.startsWith('map:')) {
      const [name, ...rest] = part.slice(4).split(',');
      const { size, ...params } = settings(rest);
      options.map = { name, size: size ?? 64, params };
    } else if (part.startsWith('network:')) {
      const [activation, ...rest] = part.slice(8).split(',');
      options.network = { activation, ...Object.fromEntries(rest.map((pair) => pair.split('='))) };
    } else if (part.startsWith('rate:')) {
      options.rate = part.slice(5);
    } else if (part.includes('=')) {
      const [name, value] = part.split('=');
      options.params[name] = +value;
    } else if (part) options.readout = part;
  }
  if (algorithm === 'mlp') { delete options.bias; delete options.readout; options.network ??= { activation: 'tanh' }; }
  return options;
}
const partOf = (words, start) => words.split('/').find((part, place) => place > 0 && part.startsWith(start));
const readoutOf = (words) => words.split('/').slice(1).find((part) => part && !/[:=]/.test(part)) ?? '';
function withPart(words, matches, part) {
  const [algorithm, ...parts] = words.split('/');
  return [algorithm, ...parts.filter((one) => one && !matches(one)), ...(part ? [part] : [])].join('/');
}
function titleOf(words) {
  const [algorithm] = words.split('/');
  const kernel = partOf(words, 'kernel:'), map = partOf(words, 'map:'), readout = readoutOf(words);
  const told = [algorithm === 'mlp' ? 'multi-layer perceptron' : algorithm];
  if (readout) told.push(readout);
  if (kernel) told.push(`${kernel.slice(7).replaceAll(',', ', ')} kernel`);
  if (map) told.push(`${map.slice(4).replaceAll(',', ', ')} map`);
  return told.join(', ');
}

function fill(select, names, chosen) {
  select.replaceChildren(...names.map((one) => {
    const [value, words, title] = Array.isArray(one) ? one : [one, one];
    return el('option', { value, textContent: words, title: title ?? '', selected: value === chosen });
  }));
}
const choices = (name) => (catalogue.choices.find((list) => list.name === name)?.values
  ?? catalogue.choices.find((list) => list.name === name)?.choices ?? [])
  .filter((one) => !one.name.includes('(')).map((one) => [one.name, `${one.name}: ${one.meaning}`, one.meaning]);

function learnerForm(words, place) {
  const [algorithm] = words.split('/');
  const change = (next) => { state.learners[place] = next; learnersForm(); relearn(); };
  const about = catalogue.algorithms.find((one) => one.name === algorithm);
  const box = el('div', { className: 'learner' });
  box.style.borderLeftColor = LEARNER_COLOURS[place];
  const remove = el('button', {
    type: 'button', textContent: 'Remove', disabled: state.learners.length === 1,
    ariaLabel: `Remove learner ${place + 1}`, onclick: () => { state.learners.splice(place, 1); learnersForm(); relearn(); },
  });
  box.append(el('div', { className: 'row' }, el('strong', { textContent: `Learner ${place + 1}` }), remove));
  const rule = el('select', { onchange: (event) => change(event.target.value === 'mlp' ? 'mlp/hidden=2/rate:0.1' : `${event.target.value}/${readoutOf(words) || 'last'}`) });
  fill(rule, catalogue.algorithms.map((one) => [one.name, one.name, one.summary]), algorithm);
  rule.title = about?.update ?? '';
  box.append(el('label', {}, 'Rule ', rule));
  if (algorithm !== 'mlp') {
    const readout = el('select', { onchange: (event) => change(withPart(words, (part) => !/[:=]/.test(part), event.target.value)) });
    fill(readout, choices('readout').map(([name, , meaning]) => [name, name, meaning]), readoutOf(words));
    box.append(el('label', {}, 'Read-out ', readout));
    const space = partOf(words, 'kernel:') ?? partOf(words, 'map:') ?? '';
    const spaces = [['', 'the rows as they are'],
      ...catalogue.kernels.filter((one) => !['linear', 'precomputed'].includes(one.name)).map((one) => [`kernel:${one.name}`, `${one.name} kernel`, one.formula]),
      ...catalogue.maps.map((one) => [`map:${one.name}`, `${one.name} map`, one.summary])];
    const select = el('select', { onchange: (event) => change(withPart(words, (part) => /^(kernel|map):/.test(part), event.target.value)) });
    fill(select, spaces, space.split(',')[0]);
    box.append(el('label', {}, 'Space ', select));
    if (space.startsWith('kernel:')) {
      const [name, ...said] = space.split(',');
      const now = Object.fromEntries(said.map((pair) => pair.split('=')));
      for (const param of catalogue.kernels.find((one) => one.name === name.slice(7))?.params ?? []) {
        box.append(numberField(param, now[param.name], (value) => {
          if (value === '') delete now[param.name]; else now[param.name] = value;
          const all = Object.entries(now).map(([key, one]) => `${key}=${one}`);
          change(withPart(words, (part) => part.startsWith('kernel:'), [name, ...all].join(',')));
        }));
      }
    }
  }
  for (const param of about?.params ?? []) {
    const now = partOf(words, `${param.name}=`)?.split('=')[1];
    box.append(numberField(param, now, (value) => change(withPart(words, (part) => part.startsWith(`${param.name}=`), value === '' ? '' : `${param.name}=${value}`))));
  }
  return box;
}
function numberField(param, now, change) {
  return el('label', { title: `${param.meaning}; ${param.range ?? ''}` }, `${param.name} `,
    el('input', { type: 'text', inputMode: 'decimal', value: now ?? '', placeholder: String(param.default), onchange: (event) => change(event.target.value.trim()) }));
}
function learnersForm() {
  $('learners').replaceChildren(...state.learners.map(learnerForm));
  $('more').disabled = state.learners.length >= 4;
}

// ---------------------------------------------------------------------------------------------- rows

const isDrawn = () => state.data.startsWith('drawn-');
const canEdit = () => table && table.features.length <= 2 && places.length / 3 <= MOST_EDITED && !+state.test && table.features.length === 2;

/** The rows as a table that the engine reads, and that the command line would. */
function csvOfPlaces() {
  const head = table && table.features.length === 2 ? table.features : ['x1', 'x2'];
  const cell = (text) => (/[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [`${head.map(cell).join(',')},class`];
  for (let i = 0; i < places.length; i += 3) lines.push(`${places[i]},${places[i + 1]},${cell(state.classList[places[i + 2]] ?? String(places[i + 2]))}`);
  return `${lines.join('\n')}\n`;
}

function bytesOfData() {
  const encode = (text) => new TextEncoder().encode(text);
  if (state.data === 'file') return file ? file.bytes : encode(state.text);
  if (state.data === 'points') {
    const names = classNames();
    const rows = state.points.split(';').filter(Boolean).map((row) => {
      const [x, y, klass] = row.split(',');
      const name = names[+klass] ?? klass;
      return `${+x},${+y},${/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name}`;
    });
    return encode(`x1,x2,class\n${rows.join('\n')}\n`);
  }
  return encode(engine.ask({ do: 'preset', name: state.data, rows: +state.n, noise: +state.noise, seed: +state.dseed }).text);
}

/** The names of the classes of clicked points. */
const classNames = () => state.classes.split(',').map(decodeURIComponent);

/** Reads the rows again, then proves and learns anew. */
function reload(keepRound = false) {
  pause();
  if (!keepRound) state.round = 0;
  attempt(() => {
    const name = state.data === 'file' ? (file?.name ?? 'table.csv') : state.data === 'points' ? 'points.csv' : `${state.data.replace('drawn-', '')}.csv`;
    const bytes = bytesOfData();
    const request = { do: 'read', name, test: +state.test, seed: +state.seed };
    if (state.label) request.label = state.label;
    else if (state.data === 'penguins') request.label = 'species';
    if (state.scaled) request.scaling = 'standard';
    try {
      const whole = state.data === 'points' && !state.points ? emptyTable() : engine.ask({ ...request }, bytes);
      const usual = (SEEN[state.data] ?? []).map((name) => whole.features.indexOf(name));
      const cols = state.cols === 'pc' ? null : state.cols !== '' ? state.cols.split(',').map(Number) : usual.length === 2 && !usual.includes(-1) ? usual : null;
      if (whole.features.length > 2 && cols) {
        const all = whole.features;
        table = { ...engine.ask({ ...request, columns: cols }, bytes), all, cols };
      } else table = { ...whole, all: whole.features, cols: null };
      places = whole.empty ? new Float64Array(0) : engine.numbers(table.rows * 3);
    } catch (error) {
      learners = [];
      throw error;
    }
    isTest = new Uint8Array(table.rows);
    for (const row of table.test) isTest[row] = 1;
    state.classList = [...table.classes];
    if (state.data === 'points') for (const name of classNames()) if (!state.classList.includes(name)) state.classList.push(name);
    fitFrame();
    dataForm();
    prove();
    relearn(keepRound);
  });
}
const emptyTable = () => ({ rows: 0, features: ['x1', 'x2'], classes: [], test: [], notes: [], slice: { columns: [0, 1] }, empty: true });

function fitFrame() {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < places.length; i += 3) {
    left = Math.min(left, places[i]); right = Math.max(right, places[i]);
    bottom = Math.min(bottom, places[i + 1]); top = Math.max(top, places[i + 1]);
  }
  if (!(right >= left)) [left, right, bottom, top] = [-2, 2, -2, 2];
  // The origin is shown where it is near: lines through it say something.
  const span = Math.max(right - left, top - bottom, 1e-9);
  if (left > 0 && left < span) left = 0;
  if (bottom > 0 && bottom < span) bottom = 0;
  if (right < 0 && -right < span) right = 0;
  if (top < 0 && -top < span) top = 0;
  const wide = Math.max(right - left, 1e-6), high = Math.max(top - bottom, 1e-6);
  frame = [left - 0.14 * wide, right + 0.14 * wide, bottom - 0.16 * high, top + 0.16 * high];
  // One unit is as long across as upwards where the two are comparable, so that right angles look right.
  const shape = 1.25, ratio = (frame[1] - frame[0]) / (frame[3] - frame[2]);
  if (ratio / shape < 4 && ratio / shape > 0.25) {
    const grow = (low, high, by) => { const extra = (high - low) * (by - 1) / 2; return [low - extra, high + extra]; };
    if (ratio < shape) [frame[0], frame[1]] = grow(frame[0], frame[1], shape / ratio);
    else [frame[2], frame[3]] = grow(frame[2], frame[3], ratio / shape);
  }
}

function dataForm() {
  $('preset').value = state.data;
  $('drawn').hidden = !isDrawn();
  for (const id of ['n', 'noise', 'dseed', 'test', 'order', 'seed', 'epochs', 'bias', 'mistake', 'zero', 'multiclass', 'speed']) $(id).value = state[id];
  for (const output of document.querySelectorAll('output[for="noise"]')) output.textContent = number(+state.noise);
  const many = table && table.all.length > 2;
  $('columns').hidden = !(many || state.data === 'file');
  if (table) {
    const columns = table.all.map((name, place) => [String(place), name]);
    fill($('across'), [['pc', 'principal components'], ...columns], table.cols ? String(table.cols[0]) : 'pc');
    fill($('up'), columns, table.cols ? String(table.cols[1]) : '');
    $('up').disabled = !table.cols;
    const labels = [...new Set([...(state.label ? [state.label] : []), ...table.all])];
    fill($('label'), [['', 'found out'], ...labels.map((name) => [name, name])], state.label);
    fill($('newclass'), [...state.classList.map((name, place) => [String(place), name]), ['new', 'a new class']], $('newclass').value || '0');
    if (!$('newclass').value) $('newclass').value = '0';
  }
  const notes = state.data === 'file' && table ? table.notes : [];
  $('notes').replaceChildren(...notes.map((note) => el('li', { textContent: note })));
  $('notes').hidden = !notes.length;
  $('scaled').checked = !!state.scaled;
  $('pen').hidden = !canEdit();
}

/** From here on the rows are points of yours. */
function edited() {
  const points = [];
  for (let i = 0; i < places.length; i += 3) points.push(`${places[i]},${places[i + 1]},${places[i + 2]}`);
  Object.assign(state, { data: 'points', points: points.join(';'), classes: state.classList.map(encodeURIComponent).join(','), cols: '', label: '', scaled: '' });
  const kept = frame;
  reload();
  frame = kept;
  for (const panel of panels) panel.base = null;
  draw();
}

// ---------------------------------------------------------------------------------------------- the run

function relearn(keepRound = false) {
  pause();
  if (!keepRound) state.round = 0;
  makePanels();
  attempt(() => {
    learners = [];
    if (table && table.rows > 0) {
      if (table.classes.length < 2) { showAll(); return; }
      learners = engine.ask({ do: 'learn', learners: state.learners.map(optionsOf) }).learners;
      for (const panel of panels) { panel.history = []; panel.look = null; panel.heat = null; panel.ended = false; }
      if (+state.round > 0) retrace(+state.round);
      lookAll();
      command();
    }
    showAll();
  });
  if (!learners.length) showAll();
  link();
}

/** Goes to a round in a few leaps, so that there are curves to look at, as long as that is quick. */
function retrace(round) {
  const began = performance.now(), leaps = Math.min(24, round);
  for (let leap = 0; leap < leaps && performance.now() - began < 250; leap += 1) {
    if (leap > 0) go(Math.round(round * leap / leaps));
    panels.forEach((panel, place) => {
      const { errors } = engine.ask({ do: 'look', learner: place });
      if (panel.history.at(-1)?.round !== learners[place].round || leap === 0) panel.history.push({ round: learners[place].round, train: errors[0], test: errors[1] });
    });
  }
  go(round);
}

/** Has all learners go to the end of a round, and looks at them. */
function go(round) {
  const target = Math.max(0, Math.floor(round));
  learners = engine.ask({ do: 'go', round: target }).learners;
  state.round = Math.max(0, ...learners.map((one) => one.round));
  for (const panel of panels) {
    panel.history = panel.history.filter((point) => point.round < state.round || point.round === 0);
    panel.stale = true;
  }
}
const isOver = () => learners.length > 0 && learners.every((one) => one.ending);

/** Asks for classes, errors and heat of the learners that need it, as long as the time allows. */
function lookAll(budget = Infinity) {
  const began = performance.now();
  // Whoever waited longest comes first.
  const waiting = panels.map((panel, place) => ({ panel, place })).filter(({ panel }) => panel.stale !== false || !panel.look)
    .sort((a, b) => (a.panel.seen ?? 0) - (b.panel.seen ?? 0));
  for (const { panel, place } of waiting) {
    if (performance.now() - began > budget) break;
    const learner = learners[place];
    if (!learner) continue;
    if (panel.ended && panel.look && learner.ending && panel.seenRound === learner.round) { panel.stale = false; continue; }
    panel.look = engine.ask({ do: 'look', learner: place });
    panel.look.classes = engine.numbers(table.rows);
    // While it plays, colours follow the lines a little later.
    const hurried = budget < Infinity;
    if (!hurried || performance.now() - (panel.heated ?? 0) > 120) {
      const { cells: got } = engine.ask({ do: 'heat', learner: place, cells: table.rows > 600 || hurried ? 40 : 80, frame });
      panel.heat = heatOf(engine.numbers(got * got * 2), got, panel);
      panel.heated = performance.now();
    }
    panel.stale = false;
    panel.seen = performance.now();
    panel.seenRound = learner.round;
    panel.ended = !!learner.ending;
    panel.history.push({ round: learner.round, train: panel.look.errors[0], test: panel.look.errors[1] });
    if (panel.history.length > 2000) panel.history = panel.history.filter((_, i) => i % 2 === 0);
  }
}

function stepTo(round, aloud = true) {
  if (!learners.length) return;
  attempt(() => { go(round); lookAll(); });
  showAll(aloud);
  link();
}
const step = () => { pause(); if (!isOver()) stepTo(+state.round + 1); };
const back = () => { pause(); if (state.round > 0) stepTo(state.round - 1); };
const reset = () => { pause(); for (const panel of panels) panel.history = []; stepTo(0); };
function epoch() {
  pause();
  const rows = learners[0]?.rows ?? 1;
  if (!isOver()) stepTo((Math.floor(state.round / rows) + 1) * rows);
}
function play() {
  if (!learners.length) return;
  if (isOver()) reset();
  playing = true; owed = 0; last = performance.now();
  $('play').textContent = 'Pause';
  requestAnimationFrame(tickOn);
}
function pause() {
  if (!playing) return;
  playing = false;
  $('play').textContent = 'Play';
  attempt(() => { if (learners.length) lookAll(); });
  showAll();
  link();
}
function tickOn(now) {
  if (!playing) return;
  const began = performance.now();
  owed += Math.min(0.25, (now - last) / 1000) * SPEEDS[state.speed];
  last = now;
  if (owed >= 1) {
    const rounds = Math.floor(owed);
    owed -= rounds;
    const fine = attempt(() => { go(+state.round + rounds); lookAll(5); return true; });
    if (!fine) { playing = false; $('play').textContent = 'Play'; return; }
    showAll(false);
    if (isOver()) { pause(); stopFilm(); return; }
    frames.push(performance.now() - began);
    if (frames.length > 600) frames.shift();
  }
  requestAnimationFrame(tickOn);
}

function prove(anyway = false) {
  proof = null; proofError = null;
  if (!table || !table.rows || table.classes.length < 2) return;
  if (table.rows > 3000 && !anyway) { proofError = 'many'; return; }
  try { proof = engine.ask({ do: 'certify', bias: state.bias }); } catch (error) { proofError = error.message; }
}
function command() {
  $('command').value = learners.map((_, place) => engine.ask({ do: 'command', learner: place }).text).join('\n');
}

// ---------------------------------------------------------------------------------------------- pictures

function makePanels() {
  const count = state.learners.length;
  if (panels.length !== count) {
    panels = state.learners.map((_, place) => panelOf(place));
    $('panels').replaceChildren(...panels.map((panel) => panel.box));
  }
  $('panels').style.setProperty('--across', count === 1 ? 1 : 2);
  $('panels').style.setProperty('--rows', count > 2 ? 2 : 1);
  panels.forEach((panel, place) => {
    panel.title.textContent = titleOf(state.learners[place]);
    panel.base = null;
  });
}

function panelOf(place) {
  const canvas = el('canvas', { tabIndex: 0, role: 'application', ariaRoleDescription: 'picture with points' });
  const title = el('span'), round = el('small');
  const stats = el('div', { className: 'stats' }), ending = el('div', { className: 'ending' });
  const heading = el('h3', {}, title, round);
  heading.style.color = LEARNER_COLOURS[place];
  const box = el('section', { className: 'panel', ariaLabel: `Learner ${place + 1}` }, heading, canvas, stats, ending);
  const panel = { place, canvas, title, round, stats, ending, box, history: [], look: null, heat: null, base: null, stale: true };
  canvas.addEventListener('pointerdown', (event) => pointerDown(event, panel));
  canvas.addEventListener('pointermove', (event) => pointerMove(event, panel));
  canvas.addEventListener('pointerup', (event) => pointerUp(event, panel));
  canvas.addEventListener('contextmenu', (event) => { event.preventDefault(); });
  canvas.addEventListener('keydown', (event) => canvasKey(event, panel));
  canvas.addEventListener('blur', () => { cross = null; draw(); });
  new ResizeObserver(() => { panel.base = null; drawPanel(panel); }).observe(canvas);
  return panel;
}

function sized(canvas) {
  const scale = Math.min(2, devicePixelRatio || 1);
  const [w, h] = [canvas.clientWidth || 400, canvas.clientHeight || 320];
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(w * scale); canvas.height = Math.round(h * scale);
  }
  return [w, h, scale];
}
const toPixels = ([w, h], x, y) => [(x - frame[0]) / (frame[1] - frame[0]) * w, (frame[3] - y) / (frame[3] - frame[2]) * h];
const toPlace = ([w, h], x, y) => [frame[0] + x / w * (frame[1] - frame[0]), frame[3] - y / h * (frame[3] - frame[2])];

function heatOf(values, cells, panel) {
  const canvas = panel.heat ?? document.createElement('canvas');
  if (canvas.width !== cells) { canvas.width = cells; canvas.height = cells; }
  const context = canvas.getContext('2d');
  const image = context.createImageData(cells, cells);
  const binary = table.classes.length === 2;
  let most = 0;
  for (let i = 1; i < values.length; i += 2) { const size = Math.abs(values[i]); if (size > most && Number.isFinite(size)) most = size; }
  const paints = table.classes.map((_, klass) => [1, 3, 5].map((at) => parseInt(colourOf(klass).slice(at, at + 2), 16)));
  for (let i = 0; i < cells * cells; i += 1) {
    const [klass, score] = [values[2 * i], values[2 * i + 1]];
    const strength = most > 0 ? Math.sqrt(Math.min(1, Math.abs(score) / most)) : 0;
    const alpha = score === 0 && binary ? 0 : 40 + 110 * strength;
    image.data.set([...(paints[klass] ?? [128, 128, 128]), alpha], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** What stays while a run goes on: paper, axes and points. */
function drawBase(pen, size, alone = true) {
  const [w, h] = size, ink = css('--soft'), line = css('--line');
  const grid = (from, to, place) => {
    const by = tick(to - from, 6);
    for (let at = Math.ceil(from / by) * by; at <= to; at += by) place(Math.abs(at) < by / 1e6 ? 0 : at);
  };
  grid(frame[0], frame[1], (x) => {
    const [px] = toPixels(size, x, 0);
    pen.line([[px, 0], [px, h]], x === 0 ? ink : line, x === 0 ? 1.1 : 0.5);
    if (px > 14 && px < w - 14) pen.text(number(x), px, h - 5, ink, 11, 'middle');
  });
  grid(frame[2], frame[3], (y) => {
    const [, py] = toPixels(size, 0, y);
    pen.line([[0, py], [w, py]], y === 0 ? ink : line, y === 0 ? 1.1 : 0.5);
    if (py > 30 && py < h - 18) pen.text(number(y), 5, py - 3, ink, 11);
  });
  if (table && alone) {
    const names = table.slice?.principal ? ['first component', 'second component'] : table.features;
    if (names[0]) pen.text(names[0], w - 8, h - 18, ink, 12, 'end');
    if (names[1] && table.features.length > 1) pen.text(names[1], 8, 16, ink, 12);
  }
  const radius = pointRadius(w);
  const byClass = new Map();
  for (let i = 0; i < places.length; i += 3) {
    const key = `${places[i + 2]}/${isTest[i / 3] ?? 0}`;
    if (!byClass.has(key)) byClass.set(key, []);
    byClass.get(key).push(toPixels(size, places[i], places[i + 1]));
  }
  for (const [key, list] of byClass) {
    const [klass, test] = key.split('/').map(Number);
    const edge = css('--sheet');
    if (test) pen.points(list, klass, radius, null, colourOf(klass), 1.6);
    else pen.points(list, klass, radius, colourOf(klass), edge, radius > 3 ? 1.2 : 0, places.length > 3000 ? 0.75 : 1);
  }
}
const pointRadius = (w) => {
  const rows = places.length / 3, most = w > 900 ? 11 : w > 500 ? 8 : 6;
  return rows <= 30 ? most : rows <= 300 ? most * 0.7 : rows <= 3000 ? 3.2 : 1.6;
};

/** What moves: boundary, weight vector, rings. */
function drawLive(pen, size, panel, place) {
  const learner = learners[place], look = panel.look, radius = pointRadius(size[0]);
  const [w, h] = size, ink = css('--ink');
  if (look && table) {
    const wrong = [];
    for (let row = 0; row < table.rows && wrong.length < 3000; row += 1) {
      if (look.classes[row] !== places[3 * row + 2]) wrong.push(toPixels(size, places[3 * row], places[3 * row + 1]));
    }
    pen.rings(wrong, radius + 2.5, css('--bad'), radius > 3 ? 2 : 1);
    for (const unit of look.units ?? []) {
      const ends = across(unit.line, frame);
      if (ends) pen.line(ends.map(([x, y]) => toPixels(size, x, y)), css('--soft'), 1.8, [7, 5]);
    }
    look.planes.forEach((plane, output) => {
      const ends = across(plane.line, frame);
      const binary = look.planes.length === 1;
      if (ends) pen.line(ends.map(([x, y]) => toPixels(size, x, y)), binary ? ink : colourOf(output), binary ? 2.6 : 1.8, binary ? [] : [6, 4]);
      if (binary && table.features.length <= 2 && plane.norm > 0) arrow(pen, size, plane.line, ends, ink);
    });
  }
  if (proof?.studies?.length === 1 && proof.studies[0].contradiction) {
    for (const { row } of proof.studies[0].contradiction.slice(0, 200)) {
      const [x, y] = toPixels(size, places[3 * (row - 1)], places[3 * (row - 1) + 1]);
      pen.points([[x, y]], 3, radius + 7, null, css('--proof'), 2);
    }
  }
  const shown = learner?.rounds?.[0];
  if (shown) {
    const [x, y] = toPixels(size, places[3 * shown.row], places[3 * shown.row + 1]);
    pen.ring(x, y, radius + 6, ink, 2.5);
    pen.ring(x, y, radius + 10, ink, 1, [3, 3]);
  }
  if (cross && document.activeElement === panel.canvas) {
    const [x, y] = toPixels(size, ...cross);
    pen.line([[x - 12, y], [x + 12, y]], css('--accent'), 2);
    pen.line([[x, y - 12], [x, y + 12]], css('--accent'), 2);
  }
  if (!places.length) pen.text('Click to add a point', w / 2, h / 2, css('--soft'), 18, 'middle');
}

/** The weight vector, from the boundary on, as long as fits. */
function arrow(pen, size, [a, b, c], ends, ink) {
  const [dx, dy] = [a * size[0] / (frame[1] - frame[0]), -b * size[1] / (frame[3] - frame[2])];
  const norm2 = a * a + b * b;
  let foot = [-a * c / norm2, -b * c / norm2];
  const inside = foot[0] > frame[0] && foot[0] < frame[1] && foot[1] > frame[2] && foot[1] < frame[3];
  if (!inside && ends) foot = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
  if (!inside && !ends) return;
  const [x, y] = toPixels(size, ...foot);
  // As long as it is, where that can be seen; else as long as can be seen.
  const real = Math.hypot(dx, dy), long = Math.max(26, Math.min(real, 0.3 * Math.min(...size)));
  const [ux, uy] = [dx / real, dy / real], [tx, ty] = [x + ux * long, y + uy * long];
  pen.line([[x, y], [tx - ux * 8, ty - uy * 8]], ink, 2.6);
  pen.area([[tx, ty], [tx - ux * 12 - uy * 6, ty - uy * 12 + ux * 6], [tx - ux * 12 + uy * 6, ty - uy * 12 - ux * 6]], ink);
  pen.text('w', tx + ux * 10 - 4, ty + uy * 10 + 4, ink, 14);
}

function drawPanel(panel) {
  if (!engine) return;
  const [w, h, scale] = sized(panel.canvas);
  CanvasPen.letters = w > 900 ? 1.5 : 1;
  const context = panel.canvas.getContext('2d');
  if (!panel.base || panel.base.width !== panel.canvas.width || panel.base.height !== panel.canvas.height) {
    panel.base = document.createElement('canvas');
    panel.base.width = panel.canvas.width; panel.base.height = panel.canvas.height;
    const under = panel.base.getContext('2d');
    under.setTransform(scale, 0, 0, scale, 0, 0);
    drawBase(new CanvasPen(under), [w, h]);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = css('--sheet');
  context.fillRect(0, 0, panel.canvas.width, panel.canvas.height);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const pen = new CanvasPen(context);
  if (panel.heat && panel.look) pen.image(panel.heat, 0, 0, w, h);
  context.drawImage(panel.base, 0, 0, w, h);
  drawLive(pen, [w, h], panel, panel.place);
}
function draw() { for (const panel of panels) drawPanel(panel); }

function curves() {
  const canvas = $('curves'), [w, h, scale] = sized(canvas);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, w, h);
  drawCurves(new CanvasPen(context), [w, h]);
}
function drawCurves(pen, [w, h]) {
  CanvasPen.letters = 1;
  const most = Math.max(1, ...panels.flatMap((panel) => panel.history.map((point) => point.round)));
  const high = Math.max(0.1, ...panels.flatMap((panel) => panel.history.flatMap((point) => [point.train ?? 0, point.test ?? 0])));
  const ink = css('--soft'), box = [44, 8, w - 8, h - 20];
  const at = (round, share) => [box[0] + round / most * (box[2] - box[0]), box[3] - share / high * (box[3] - box[1])];
  for (const share of [0, high / 2, high]) {
    pen.line([at(0, share), at(most, share)], css('--line'), 0.7);
    pen.text(`${number(Math.round(1000 * share) / 10)} %`, box[0] - 4, at(0, share)[1] + 4, ink, 10.5, 'end');
  }
  pen.text(`round ${most}`, box[2], h - 5, ink, 10.5, 'end');
  panels.forEach((panel, place) => {
    const sorted = [...panel.history].sort((a, b) => a.round - b.round);
    for (const [part, dash] of [['train', []], ['test', [4, 3]]]) {
      const points = sorted.filter((point) => point[part] !== null && point[part] !== undefined).map((point) => at(point.round, point[part]));
      if (points.length > 1) pen.line(points, LEARNER_COLOURS[place], 2, dash);
      else pen.points(points, 0, 3, LEARNER_COLOURS[place], null, 0);
    }
  });
}

// ---------------------------------------------------------------------------------------------- words and numbers

let told = 0;
function showAll(aloud = false) {
  draw();
  if (recorder) filmFrame();
  // Words that change sixty times a second nobody reads.
  if (playing && performance.now() - told < 120) return;
  told = performance.now();
  curves();
  panels.forEach((panel, place) => {
    const learner = learners[place], look = panel.look;
    panel.round.textContent = learner ? `${learner.mistakes} mistakes` : '';
    const plane = look?.planes.length === 1 ? look.planes[0] : null;
    const facts = !learner || !look ? [] : [
      ['error', percent(look.errors[0])], ...(table.test.length ? [['test error', percent(look.errors[1])]] : []),
      ['updates', learner.updates],
      ...(look.margin !== null ? [['margin', number(look.margin)]] : []),
      ...(plane ? [['|w|', number(plane.norm)]] : []),
      ...(look.support !== null ? [['support vectors', look.support]] : []),
    ];
    panel.stats.replaceChildren(...facts.map(([name, value]) => el('span', {}, `${name} `, el('b', { textContent: value }))));
    panel.ending.textContent = learner?.ending ?? '';
    panel.ending.classList.toggle('not', !!learner?.ending && !learner.ending.startsWith('converged'));
    const words = `${titleOf(state.learners[place])}. ${learner ? `Round ${learner.round}, ${learner.mistakes} mistakes` : 'not started'}${look ? `, error ${percent(look.errors[0])}` : ''}. ${table ? table.rows : 0} points.`;
    panel.canvas.setAttribute('aria-label', words);
  });
  const epochs = learners.map((one) => Math.max(1, one.rounds[0]?.epoch ?? 1));
  $('clock').textContent = learners.length ? `round ${state.round} · epoch ${Math.max(...epochs)}` : '';
  for (const output of document.querySelectorAll('output[for="speed"]')) output.textContent = `${SPEEDS[state.speed]}/s`;
  showUpdate(aloud);
  showProof();
  $('legend').replaceChildren(...panels.map((_, place) => { const one = el('span', { textContent: `— ${titleOf(state.learners[place])}` }); one.style.color = LEARNER_COLOURS[place]; return one; }),
    ...(table?.test.length ? [el('span', { textContent: 'dashed: on test rows' })] : []));
}

const WHY = {
  le0: ['y·score ≤ 0', 'by the convention le0, a score on the line is a mistake, too'],
  lt0: ['y·score < 0', 'by the convention lt0, a score of zero is no mistake'],
  pred: ['the predicted class is another', 'by the convention pred, only a wrong class is a mistake'],
};
function showUpdate(aloud) {
  const box = $('update');
  box.setAttribute('aria-live', aloud ? 'polite' : 'off');
  if (!table || !table.rows) { box.replaceChildren(el('p', { textContent: 'Add points of two classes, or choose rows.' })); return; }
  if (table.classes.length < 2) { box.replaceChildren(el('p', { textContent: 'Points of a second class are needed: choose it under “New points are”, and click.' })); return; }
  const learner = learners[0], shown = learner?.rounds ?? [];
  if (!shown.length) { box.replaceChildren(el('p', { textContent: 'Before the first round all weights are zero. Press Play, or step.' })); return; }
  const round = shown.find((one) => one.mistaken || one.step) ?? shown[0];
  const binary = table.classes.length === 2;
  const x = table.features.length <= 2 ? [places[3 * round.row], places[3 * round.row + 1]].slice(0, table.features.length) : null;
  const linear = round.before && x && x.length === round.w.length;
  const parts = [];
  const asked = binary ? '' : ` (asked: ${table.classes[round.output] ?? round.output})`;
  parts.push(el('p', { textContent: `Round ${round.round}, epoch ${round.epoch}: row ${round.row + 1}${x ? `, x = ${vector(x)}` : ''}, class ${table.classes[round.class]}${asked}, y = ${round.side > 0 ? '+1' : '−1'}` }));
  if (linear) {
    const [w, b] = round.before;
    const held = (value, first) => (value < 0 && !first ? `(${number(value)})` : number(value));
    const sum = w.map((weight, i) => `${held(weight, i === 0)}·${held(x[i])}`).join(' + ');
    parts.push(el('p', { textContent: `score = w·x + b = ${sum} + ${b < 0 ? `(${number(b)})` : number(b)} = ${number(round.activation)}` }));
  } else parts.push(el('p', { textContent: `score = ${number(round.activation)}` }));
  const product = round.side * round.activation;
  const together = !binary && state.multiclass.startsWith('direct');
  const [test, convention] = WHY[state.mistake] ?? WHY.le0;
  const rule = catalogue.algorithms.find((one) => one.name === state.learners[0].split('/')[0]);
  const isNetwork = state.learners[0].startsWith('mlp'), isKernel = !!partOf(state.learners[0], 'kernel:');
  const verdict = isNetwork ? `${round.mistaken ? 'a mistake' : 'right'}: y·score = ${number(product)}` : together ? (round.mistaken ? 'a mistake: another class has as high a score, or a higher one' : 'right: no other class has as high a score')
    : round.mistaken ? `a mistake: y·score = ${number(product)}, and ${test}` : round.step ? `right, but close: y·score = ${number(product)}` : `right: y·score = ${number(product)}`;
  parts.push(el('p', { className: `verdict ${round.mistaken ? 'mistake' : 'right'}`, textContent: verdict, title: convention }));
  if (round.step) {
    const { amount, keep } = round.step;
    if (isNetwork) parts.push(el('p', { textContent: 'so all weights go a step down the slope of the loss; dashed lines are where hidden units change sides.' }));
    else if (isKernel) parts.push(el('p', { textContent: `so this row counts ${amount < 0 ? '−' : '+'}${number(Math.abs(amount))} from now on: score ← score ${amount < 0 ? '−' : '+'} ${Math.abs(amount) === 1 ? '' : `${number(Math.abs(amount))} `}k(x, ·)` }));
    else {
      const sign = amount < 0 ? '−' : '+', size = Math.abs(amount) === 1 ? '' : `${number(Math.abs(amount))} `;
      parts.push(el('p', { textContent: `so w ← ${keep === 1 ? '' : `${number(keep)} `}w ${sign} ${size}x${together ? ' for its class, and the opposite for its rivals' : ''}` }));
    }
    if (linear && !isNetwork) {
      const [w, b] = round.before;
      const row = (name, ...cells) => el('tr', {}, el('th', { textContent: name, scope: 'row' }), ...cells.map((cell) => el('td', { textContent: cell })));
      parts.push(el('table', {}, row('', 'w', 'b'), row('before', vector(w), number(b)), row('after', vector(round.w), number(round.b))));
    }
  } else parts.push(el('p', { textContent: 'so nothing moves.' }));
  if (rule && state.learners[0].split('/')[0] !== 'perceptron') parts.push(el('p', { className: 'hint', textContent: `${rule.name}: ${rule.update}` }));
  if (panels.length > 1) parts.push(el('p', { className: 'hint', textContent: `of learner 1, ${titleOf(state.learners[0])}` }));
  box.replaceChildren(...parts);
}

const SVG = 'http://www.w3.org/2000/svg';
/** Two numbers on one bar: the first may not pass the second. */
function meter(words, small, large, smallName, largeName) {
  const most = Math.max(small, large, 1e-12) * 1.05;
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 100 8'); svg.setAttribute('preserveAspectRatio', 'none'); svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${smallName} ${number(small)}, ${largeName} ${number(large)}`);
  const bar = (x, wide, fill) => { const one = document.createElementNS(SVG, 'rect'); for (const [k, v] of Object.entries({ x, y: 0, width: Math.max(0, wide), height: 8, fill })) one.setAttribute(k, v); svg.append(one); };
  bar(0, small / most * 100, css('--accent'));
  bar(large / most * 100 - 0.6, 1.2, css('--bad'));
  return el('div', { className: 'meter' }, el('div', {}, el('span', { textContent: words })), svg,
    el('div', {}, el('span', { textContent: `${smallName} = ${number(small)}` }), el('span', { textContent: `${largeName} = ${number(large)}` })));
}
function showProof() {
  const box = $('proof'), parts = [];
  const p = (textContent, className = '') => parts.push(el('p', { textContent, className }));
  if (proofError === 'many') {
    p(`${table.rows} rows: the proof may take a while.`);
    parts.push(el('button', { type: 'button', textContent: 'Prove it', onclick: () => { prove(true); relearn(true); } }));
  } else if (proofError) p(proofError);
  else if (!proof) p('Two classes are needed.');
  else {
    const through = state.bias === 'none' ? ' through the origin' : '';
    for (const study of proof.studies) {
      const sides = proof.studies.length > 1 ? `${study.positive} against ${study.negative ?? 'the rest'}: ` : '';
      if (study.verdict === 'separable') p(`${sides}a line${through} separates the classes${study.checked ? '; proved without rounding' : ''}.`, 'yes');
      else if (study.verdict === 'inseparable') {
        p(`${sides}no line${through} separates the classes${study.checked ? '; proved without rounding' : ''}.`, 'no');
        if (proof.studies.length === 1) {
          const rows = study.contradiction ?? [];
          p('These rows contradict each other (violet diamonds): each taken as often as said, on its side, they add up to nothing, so no w can have y·score > 0 for all.');
          const head = el('tr', {}, ...['row', 'class', 'times'].map((name) => el('th', { textContent: name, scope: 'col' })));
          parts.push(el('table', {}, head, ...rows.slice(0, 8).map(({ row, class: name, weight }) => el('tr', {}, el('th', { textContent: `row ${row}`, scope: 'row' }), el('td', { textContent: name }), el('td', { textContent: weight.length > 8 ? Number(weight).toExponential(2) : weight })))));
          if (rows.length > 8) p(`… ${rows.length} rows in all`, 'hint');
        }
      } else p(`${sides}open: not decided.`);
    }
    if (proof.bound) {
      const { margin, radius, 'most-mistakes': most } = proof.bound;
      p(`margin γ = ${number(margin)}, radius R = ${number(radius)}${state.bias === 'none' ? '' : ' (bias as a feature that is always 1)'}`);
      const learner = learners[0], meters = learner?.meters;
      const k = learner?.updates ?? 0;
      parts.push(meter('mistakes never exceed (R/γ)²', k, most, 'mistakes', '(R/γ)²'));
      if (meters) {
        parts.push(meter('every mistake takes w at least γ along u', k * margin, meters.progress, `${k}·γ`, 'w·u'));
        parts.push(meter('every mistake adds at most R² to |w|²', meters.norm2, k * radius * radius, '|w|²', `${k}·R²`));
        p('As w·u ≤ |w|, both can hold only while mistakes ≤ (R/γ)².', 'hint');
      } else if (learner?.rounds?.length) p('The two inequalities are about the perceptron that adds whole examples on mistakes.', 'hint');
    }
  }
  box.replaceChildren(...parts);
}

// ---------------------------------------------------------------------------------------------- hands and keys

function nearest(size, x, y, reach = 16) {
  let found = -1, best = reach * reach;
  for (let i = 0; i < places.length; i += 3) {
    const [px, py] = toPixels(size, places[i], places[i + 1]);
    const d = (px - x) ** 2 + (py - y) ** 2;
    if (d < best) [found, best] = [i / 3, d];
  }
  return found;
}
const tidy = (value, span) => +value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(span))));
const tidied = (x, y) => [tidy(x, frame[1] - frame[0]), tidy(y, frame[3] - frame[2])];
let dragged = null;
function pointerDown(event, panel) {
  if (!canEdit()) return;
  const size = [panel.canvas.clientWidth, panel.canvas.clientHeight];
  const row = nearest(size, event.offsetX, event.offsetY);
  dragged = { row, x: event.offsetX, y: event.offsetY, moved: false, erase: event.button === 2 || event.altKey };
  panel.canvas.setPointerCapture(event.pointerId);
}
function pointerMove(event, panel) {
  if (!dragged || dragged.row < 0) return;
  if (!dragged.moved && Math.hypot(event.offsetX - dragged.x, event.offsetY - dragged.y) < 4) return;
  dragged.moved = true;
  const place = tidied(...toPlace([panel.canvas.clientWidth, panel.canvas.clientHeight], event.offsetX, event.offsetY));
  places.set(place, 3 * dragged.row);
  for (const one of panels) one.base = null;
  draw();
}
function pointerUp(event, panel) {
  if (!dragged) return;
  const { row, moved, erase } = dragged;
  dragged = null;
  if (moved) { edited(); return; }
  const size = [panel.canvas.clientWidth, panel.canvas.clientHeight];
  act(row, tidied(...toPlace(size, event.offsetX, event.offsetY)), erase || document.querySelector('[name=tool]:checked').value === 'erase');
}
/** A click: adds a point, changes its class, or erases it. */
function act(row, place, erase) {
  if (erase) {
    if (row >= 0) { places = places.filter((_, i) => Math.floor(i / 3) !== row); say('erased'); edited(); }
    return;
  }
  if (row >= 0) {
    places[3 * row + 2] = (places[3 * row + 2] + 1) % Math.max(2, state.classList.length);
    say(`point ${row + 1} is ${state.classList[places[3 * row + 2]]}`);
  } else {
    let klass = $('newclass').value;
    if (klass === 'new') {
      klass = state.classList.length;
      if (klass >= 6) return;
      let name = `class ${klass + 1}`;
      while (state.classList.includes(name)) name += '′';
      state.classList.push(name);
    }
    if (+klass >= state.classList.length) klass = 0;
    const grown = new Float64Array(places.length + 3);
    grown.set(places); grown.set([...place, +klass], places.length);
    places = grown;
    say(`a point of ${state.classList[+klass]} at ${place.map(number).join(', ')}`);
  }
  edited();
}
function canvasKey(event, panel) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const size = [panel.canvas.clientWidth, panel.canvas.clientHeight];
  if (moves[event.key]) {
    cross ??= [(frame[0] + frame[1]) / 2, (frame[2] + frame[3]) / 2];
    const row = event.shiftKey && canEdit() ? nearest(size, ...toPixels(size, ...cross)) : -1;
    const by = [(frame[1] - frame[0]) / 40, (frame[3] - frame[2]) / 40];
    cross = tidied(cross[0] + moves[event.key][0] * by[0], cross[1] + moves[event.key][1] * by[1]);
    if (row >= 0) { places.set(cross, 3 * row); edited(); panel.canvas.focus(); }
    draw();
    say(`cross at ${cross.map(number).join(', ')}`);
  } else if ((event.key === 'Enter' || event.key === 'Delete' || event.key === 'Backspace') && cross && canEdit()) {
    const kept = cross;
    act(nearest(size, ...toPixels(size, ...cross)), tidied(...cross), event.key !== 'Enter');
    cross = kept; draw();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const target = event.target;
  const typing = target.matches?.('input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select');
  if (typing) return;
  const onButton = target.matches?.('button, summary, input, a');
  const does = {
    ' ': onButton ? null : () => (playing ? pause() : play()), '.': step, ',': back, e: epoch, r: reset,
    ArrowRight: target.matches?.('input') ? null : step, ArrowLeft: target.matches?.('input') ? null : back,
    '+': () => faster(1), '-': () => faster(-1), h: lesson, d: theme, '?': () => $('keys-dialog').showModal(),
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!does) return;
  event.preventDefault();
  does();
}
function faster(by) { state.speed = Math.max(0, Math.min(SPEEDS.length - 1, +state.speed + by)); $('speed').value = state.speed; showAll(); link(); }
function lesson() { state.lesson = state.lesson ? '' : '1'; dress(); link(); }
function theme() { state.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; dress(); link(); }
function dress() {
  const dark = state.theme ? state.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  colours.clear();
  $('theme').textContent = dark ? 'Light' : 'Dark';
  document.body.classList.toggle('lesson', !!state.lesson);
  $('lesson').setAttribute('aria-pressed', String(!!state.lesson));
  for (const part of document.querySelectorAll('[id^=part-]')) part.hidden = state.hide.split(',').includes(part.id.slice(5));
  for (const panel of panels) panel.base = null;
  if (engine) showAll();
}

// ---------------------------------------------------------------------------------------------- link and files

function words() {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) if (name !== 'text' && String(state[name]) !== String(value)) said.set(name, state[name]);
  if (state.data !== 'points') { said.delete('points'); said.delete('classes'); }
  if (state.data === 'file') {
    const text = file ? new TextDecoder().decode(file.bytes.slice(0, LONGEST_SHARED + 1)) : state.text;
    if (text.length <= LONGEST_SHARED) said.set('text', text);
  }
  for (const learner of state.learners) said.append('learner', learner);
  return said.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%3B', ';');
}
/** Keeps the whole state in the address, soon. */
function link() {
  clearTimeout(dirtyLink);
  dirtyLink = setTimeout(() => { if (!playing) history.replaceState(null, '', `#${words()}`); }, 150);
}
function readLink(hash = location.hash) {
  const said = new URLSearchParams(hash.slice(1));
  Object.assign(state, DEFAULTS);
  for (const name of Object.keys(DEFAULTS)) if (said.has(name)) state[name] = said.get(name);
  for (const name of ['n', 'noise', 'dseed', 'seed', 'epochs', 'speed', 'round']) state[name] = Number.isFinite(+state[name]) ? +state[name] : DEFAULTS[name];
  state.speed = Math.max(0, Math.min(SPEEDS.length - 1, Math.round(state.speed)));
  state.learners = said.getAll('learner').slice(0, 4);
  if (!state.learners.length) state.learners = ['perceptron/last'];
  if (state.text) state.data = 'file';
  file = null;
}
function restored() {
  attempt(() => { dress(); learnersForm(); });
  reload(true);
}

function save(name, text, type) {
  const blob = text instanceof Blob ? text : new Blob([text], { type });
  const address = URL.createObjectURL(blob);
  el('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(`${name} was saved`);
}
const traced = (form, name) => attempt(() => save(name, engine.ask({ do: 'trace', learner: 0, form, rounds: Math.max(+state.round, learners[0]?.rows ?? 1) }).text, 'text/plain'));

function picture() {
  const across2 = panels.length > 1 ? 2 : 1, [w, h] = [640, 512];
  const high = Math.ceil(panels.length / across2) * (h + 40);
  const pen = new SvgPen(across2 * (w + 10), high, css('--sheet'));
  panels.forEach((panel, place) => {
    pen.offset = [(place % across2) * (w + 10), Math.floor(place / across2) * (h + 40) + 30];
    pen.text(`${titleOf(state.learners[place])}: ${learners[place]?.mistakes ?? 0} mistakes, error ${percent(panel.look?.errors[0])}`, 8, -10, css('--ink'), 16);
    if (panel.heat) pen.image(panel.heat, 0, 0, w, h);
    drawBase(pen, [w, h]);
    drawLive(pen, [w, h], panel, place);
  });
  return pen.end();
}

let filmCanvas = null;
function film() {
  if (recorder) { stopFilm(); return; }
  if (!window.MediaRecorder) { trouble('this browser records no films'); return; }
  filmCanvas = document.createElement('canvas');
  filmFrame(true);
  const pieces = [];
  recorder = new MediaRecorder(filmCanvas.captureStream(30), { videoBitsPerSecond: 6e6 });
  recorder.ondataavailable = (event) => pieces.push(event.data);
  recorder.onstop = () => save('perceptron.webm', new Blob(pieces, { type: 'video/webm' }));
  recorder.start();
  $('film').setAttribute('aria-pressed', 'true');
  $('film').textContent = 'Stop recording';
  if (!playing) play();
}
function stopFilm() {
  if (!recorder) return;
  recorder.stop(); recorder = null;
  $('film').setAttribute('aria-pressed', 'false');
  $('film').textContent = 'Record film';
}
function filmFrame(first = false) {
  const across2 = panels.length > 1 ? 2 : 1, [w, h] = [panels[0].canvas.width, panels[0].canvas.height];
  if (first) { filmCanvas.width = w * across2; filmCanvas.height = (h + 44) * Math.ceil(panels.length / across2); }
  const context = filmCanvas.getContext('2d');
  context.fillStyle = css('--sheet');
  context.fillRect(0, 0, filmCanvas.width, filmCanvas.height);
  panels.forEach((panel, place) => {
    const [x, y] = [(place % across2) * w, Math.floor(place / across2) * (h + 44)];
    new CanvasPen(context).text(`${titleOf(state.learners[place])} · round ${learners[place]?.round ?? 0}, ${learners[place]?.mistakes ?? 0} mistakes`, x + 10, y + 28, css('--ink'), 20);
    context.drawImage(panel.canvas, x, y + 44);
  });
}

async function open(given) {
  pause();
  try {
    engine.ask({ do: 'fits', bytes: given.size });
    file = { name: given.name || 'table.csv', bytes: new Uint8Array(await given.arrayBuffer()) };
  } catch (error) { trouble(error); return; }
  Object.assign(state, { data: 'file', text: '', cols: '', label: '', scaled: '', bias: 'learned' });
  reload();
  say(table ? [`${table.rows} rows were read`, ...table.notes].join('; ') : '');
}

// ---------------------------------------------------------------------------------------------- beginning

function listen() {
  const on = (id, event, does) => $(id).addEventListener(event, does);
  on('settings', 'submit', (event) => event.preventDefault());
  on('preset', 'change', (event) => {
    Object.assign(state, { data: event.target.value, label: '', cols: '', scaled: event.target.value === 'penguins' ? '1' : '' });
    if (state.data === 'file' && !file) { $('file').click(); return; }
    if (state.data === 'points' && !state.points) { edited(); return; }
    state.bias = state.data === 'lecture' ? 'none' : 'learned';
    reload();
  });
  for (const id of ['n', 'dseed']) on(id, 'change', (event) => { state[id] = event.target.value; reload(); });
  on('noise', 'input', (event) => { state.noise = event.target.value; reload(); });
  on('test', 'change', (event) => { state.test = event.target.value; reload(); });
  for (const id of ['order', 'seed', 'epochs', 'mistake', 'zero', 'multiclass']) on(id, 'change', (event) => { state[id] = event.target.value; relearn(); });
  on('bias', 'change', (event) => { state.bias = event.target.value; prove(); relearn(); });
  on('label', 'change', (event) => { state.label = event.target.value; state.cols = ''; reload(); });
  on('scaled', 'change', (event) => { state.scaled = event.target.checked ? '1' : ''; reload(); });
  const columns = () => { state.cols = $('across').value === 'pc' ? 'pc' : `${$('across').value},${$('up').value || ($('across').value === '0' ? 1 : 0)}`; reload(); };
  on('across', 'change', columns); on('up', 'change', columns);
  on('more', 'click', () => {
    const next = ['perceptron/averaged', 'perceptron/voted', 'perceptron/pocket', 'perceptron/last/kernel:rbf'].find((one) => !state.learners.includes(one));
    state.learners.push(next ?? 'perceptron/averaged'); learnersForm(); relearn();
  });
  on('clear', 'click', () => { Object.assign(state, { data: 'points', points: '', classes: 'minus,plus', cols: '', label: '', scaled: '' }); places = new Float64Array(0); reload(); });
  on('play', 'click', () => (playing ? pause() : play()));
  on('step', 'click', step); on('back', 'click', back); on('reset', 'click', reset); on('epoch', 'click', epoch);
  on('speed', 'input', (event) => { state.speed = +event.target.value; showAll(); link(); });
  on('lesson', 'click', lesson); on('theme', 'click', theme);
  on('keys', 'click', () => $('keys-dialog').showModal());
  on('share', 'click', async () => {
    const address = `${location.href.split('#')[0]}#${words()}`;
    try { await navigator.clipboard.writeText(address); say('the link was copied'); $('share').textContent = 'Copied'; setTimeout(() => { $('share').textContent = 'Copy link'; }, 1500); } catch { history.replaceState(null, '', `#${words()}`); say('the link is in the address bar'); }
  });
  on('svg', 'click', () => save('perceptron.svg', picture(), 'image/svg+xml'));
  on('film', 'click', film);
  on('csv', 'click', () => traced('csv', 'trace.csv'));
  on('latex', 'click', () => traced('latex', 'trace.tex'));
  on('rows', 'click', () => save('points.csv', csvOfPlaces(), 'text/csv'));
  on('command', 'focus', (event) => event.target.select());
  on('file', 'change', (event) => { if (event.target.files[0]) open(event.target.files[0]); event.target.value = ''; });
  on('paste', 'click', () => $('pasting').showModal());
  on('pasting', 'close', () => { if ($('pasting').returnValue === 'ok' && $('pasted').value) open(new File([$('pasted').value], 'pasted.csv')); });
  addEventListener('keydown', keys);
  addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('dropping'); });
  addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.body.classList.remove('dropping'); });
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    const given = event.dataTransfer?.files?.[0];
    const text = event.dataTransfer?.getData('text');
    if (given) open(given); else if (text) open(new File([text], 'dropped.csv'));
  });
  // What was asked for, not what has been kept there meanwhile.
  addEventListener('hashchange', (event) => { clearTimeout(dirtyLink); pause(); clearTimeout(dirtyLink); readLink(new URL(event.newURL).hash); restored(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', dress);
  new ResizeObserver(curves).observe($('curves'));
}

try {
  engine = await start(new URL('rosenblatt.wasm.gz', import.meta.url));
  catalogue = engine.ask({ do: 'catalogue' });
  for (const id of ['order', 'bias', 'mistake', 'zero', 'multiclass']) fill($(id), choices(id), DEFAULTS[id]);
  listen();
  readLink();
  if (!location.hash) state.bias = 'none';
  restored();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
} catch (error) { trouble(error); }

// For tests, and for the curious.
window.playground = { ask: (request, bytes) => engine.ask(request, bytes), state: () => ({ ...state, learners: [...state.learners] }), learners: () => learners, frames: () => [...frames], words };
