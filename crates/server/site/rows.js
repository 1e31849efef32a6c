// The rows: where they come from, how the engine reads them, and the form that says so.

import { $, counted, desk, el, readable, state } from './desk.js';
import { number } from './draw.js';
import { fill } from './learners.js';
import { files, isMeasured } from './state.js';

// The columns that measured flowers and birds are seen by at first.
const SEEN = { iris: ['petal_length', 'petal_width'], penguins: ['bill_length_mm', 'flipper_length_mm'] };
const MOST_EDITED = 2000;
/** The fields of the start weights. */
export const START = ['start-1', 'start-2', 'start-b'];
/** How noisy rows are at the least: those of the data set “Noisy” are never without. */
export const leastNoise = (data) => (data === 'drawn-noisy' ? 0.45 : 0);
const EMPTY = { rows: 0, features: ['x1', 'x2'], numbers: [], classes: [], test: [], notes: [], slice: { columns: [0, 1] } };

export const canEdit = () => desk.table && !desk.table.unread && desk.table.features.length === 2 && desk.places.length / 3 <= MOST_EDITED && !+state.test;
/** The names of the classes of clicked points. */
const classNames = () => state.classes.split(',').map(decodeURIComponent);
const cell = (text) => (/[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** What the file with the rows is called on the command line. */
export const fileName = () => (state.data === 'file' ? state.table || 'table.csv' : `${state.data.replace('drawn-', '')}.csv`);

/** The rows as a table that the engine reads, and that the command line would. */
export function bytesOfData() {
  const encode = (text) => new TextEncoder().encode(text);
  if (state.data === 'file') return files.get(state.table) ?? encode(state.text);
  if (state.data === 'points') {
    const names = classNames();
    const rows = state.points.split(';').filter(Boolean).map((row) => {
      const [x, y, klass] = row.split(',');
      return `${+x},${+y},${cell(names[+klass] ?? klass)}\n`;
    });
    return encode(`x1,x2,class\n${rows.join('')}`);
  }
  return encode(desk.engine.ask({ do: 'preset', name: state.data, rows: +state.n, noise: +state.noise, seed: +state.dseed }).text);
}

/** How the rows are to be read. */
function reading() {
  const request = { do: 'read', name: fileName(), test: +state.test, seed: +state.seed };
  if (state.label) request.label = state.label;
  else if (state.data === 'penguins') request.label = 'species';
  if (state.scaled) request.scaling = 'standard';
  return request;
}
/** The names of all columns of a table whose label is yet to be chosen. */
function columnsOf(bytes) {
  const others = (label) => {
    try { return desk.engine.ask({ ...reading(), label }, bytes).features.map((name) => name.replace(/=.*$/s, '')); } catch { return []; }
  };
  return [...new Set([...others('2').slice(0, 1), ...others('1')])];
}
/** Clears the board after a table that could not be read; the complaint again, with what helps on this page. */
export function unread(error) {
  let bytes = null;
  try { bytes = bytesOfData(); } catch { /* there are no rows at all */ }
  const asks = bytes && /help: name it with `label`/.test(error.message);
  const columns = asks ? columnsOf(bytes) : [];
  Object.assign(desk, { table: { ...EMPTY, cols: null, unread: true, numbers: columns }, places: new Float64Array(0), isTest: new Uint8Array(0), classes: ['minus', 'plus'] });
  if (columns.length < 2) return error;
  $('part-data').open = true;
  const [last] = columns.slice(-1);
  return new Error(`${error.message.split('\nhelp: ')[0]}\nThis page learns classes: choose the column that holds them in the menu “Label”, under “Data”. \`rosenblatt train ${fileName()} --label ${last}\` learns to predict a number.`);
}

/** Reads the rows again. */
export function read() {
  const bytes = bytesOfData(), request = reading();
  if (state.data === 'points' && !state.points) {
    desk.table = { ...EMPTY, cols: null };
    desk.places = new Float64Array(0);
  } else {
    const whole = desk.engine.ask(request, bytes);
    const usual = SEEN[state.data] ?? [];
    const wished = state.cols === 'all' ? [] : state.cols ? state.cols.split(',').map(decodeURIComponent) : usual;
    const cols = whole.features.length > 2 && wished.length === 2 && wished.every((name) => whole.numbers.includes(name)) ? wished : null;
    desk.table = { ...(cols ? desk.engine.ask({ ...request, columns: cols }, bytes) : whole), cols, width: whole.features.length };
    desk.places = desk.engine.numbers(desk.table.rows * 3);
  }
  desk.isTest = new Uint8Array(desk.table.rows);
  for (const row of desk.table.test) desk.isTest[row] = 1;
  desk.classes = [...desk.table.classes];
  if (state.data === 'points') for (const name of classNames()) if (!desk.classes.includes(name)) desk.classes.push(name);
}

/** From here on the rows are points of yours: those on the picture. */
export function keepPoints() {
  const { places } = desk, points = [];
  for (let i = 0; i < places.length; i += 3) points.push(`${places[i]},${places[i + 1]},${places[i + 2]}`);
  Object.assign(state, { data: 'points', points: points.join(';'), classes: desk.classes.map(encodeURIComponent).join(','), cols: '', label: '', scaled: '', table: '', text: '' });
}

/** What there is to know of the rows, and what was done to them. */
function notes() {
  const { table } = desk;
  if (!table || table.unread) return [];
  const lines = [];
  if (state.scaled) lines.push('columns are standardized: mean 0, standard deviation 1');
  if (isMeasured(state.data) && state.order.startsWith('shuffle')) lines.push(`rows are shuffled ${state.order === 'shuffle-once' ? 'once' : 'before every epoch'} (change it under “Order and conventions”)`);
  if (table.cols) lines.push(`learned from 2 of ${counted(table.width, 'feature')}`);
  return [...lines, ...(state.data === 'file' || table.dropped ? table.notes.map(readable) : [])];
}

export function dataForm() {
  const { table } = desk;
  $('preset').value = state.data;
  $('drawn').hidden = !state.data.startsWith('drawn-');
  for (const id of ['n', 'dseed', 'test', 'order', 'seed', 'epochs', 'bias', 'mistake', 'zero', 'multiclass', 'speed']) $(id).value = state[id];
  const least = leastNoise(state.data);
  Object.assign($('noise'), { min: least, max: 1 + least });
  $('noise').value = least + +state.noise;
  for (const output of document.querySelectorAll('output[for="noise"]')) output.textContent = number(least + +state.noise);
  $('columns').hidden = !(table && (table.width > 2 || isMeasured(state.data))) || (table.unread && !table.numbers.length);
  if (table) {
    const columns = table.numbers.map((name) => [name, name]);
    fill($('across'), [['all', 'all columns, by their scores'], ...columns], table.cols?.[0] ?? 'all');
    fill($('up'), columns, table.cols?.[1] ?? '');
    $('up').disabled = !table.cols;
    for (const id of ['across', 'up']) $(id).parentElement.hidden = !!table.unread;
    const labels = [...new Set([...(state.label ? [state.label] : []), ...table.numbers])];
    fill($('label'), [['', table.unread ? 'choose …' : 'detected'], ...labels.map((name) => [name, name])], state.label);
    fill($('newclass'), [...desk.classes.map((name, place) => [String(place), name]), ['new', 'a new class']], $('newclass').value || '0');
    if (!$('newclass').value) $('newclass').value = '0';
  }
  // One hyperplane in the plane of the picture; what an address holds can be seen and taken back in any case.
  $('start').hidden = !state.start && !(table?.features.length === 2 && table.classes.length === 2);
  const numbers = state.start.split(',');
  START.forEach((id, place) => {
    $(id).value = numbers[place] ?? '';
    $(id).title = table?.features[place] ?? '';
  });
  $('start-b').disabled = state.bias === 'none';
  $('notes').replaceChildren(...notes().map((note) => el('li', { textContent: note })));
  $('notes').hidden = !notes().length;
  $('scaled').checked = !!state.scaled;
  $('pen').hidden = !canEdit();
}

/** The part of the plane that the rows take up. */
export function fitRows() {
  const { places } = desk;
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < places.length; i += 3) {
    left = Math.min(left, places[i]); right = Math.max(right, places[i]);
    bottom = Math.min(bottom, places[i + 1]); top = Math.max(top, places[i + 1]);
  }
  if (!(right >= left)) [left, right, bottom, top] = [-2, 2, -2, 2];
  else if (left === right && bottom === top) [left, right, bottom, top] = [left - 2, right + 2, bottom - 2, top + 2];
  // The origin is shown where it is near: lines through it say something.
  const span = Math.max(right - left, top - bottom, 1e-9);
  if (left > 0 && left < span) left = 0;
  if (bottom > 0 && bottom < span) bottom = 0;
  if (right < 0 && -right < span) right = 0;
  if (top < 0 && -top < span) top = 0;
  const wide = Math.max(right - left, 1e-6), high = Math.max(top - bottom, 1e-6);
  desk.extent = [left - 0.14 * wide, right + 0.14 * wide, bottom - 0.16 * high, top + 0.16 * high];
}
/** The part of the plane that is seen, with units as long across as upwards where the two are comparable. */
export function shaped(frame, shape) {
  const ratio = (frame[1] - frame[0]) / (frame[3] - frame[2]);
  if (ratio / shape >= 4 || ratio / shape <= 0.25) return frame;
  const grow = (low, high, by) => { const extra = (high - low) * (by - 1) / 2; return [low - extra, high + extra]; };
  return ratio < shape ? [...grow(frame[0], frame[1], shape / ratio), frame[2], frame[3]] : [frame[0], frame[1], ...grow(frame[2], frame[3], ratio / shape)];
}
