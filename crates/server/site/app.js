// The playground: what a person does on the page. It computes nothing about learning: every number comes from the engine,
// which is the one of the command line.

import { $, count, counted, css, desk, el, forgetColours, readable, say, state, trouble } from './desk.js';
import { start } from './engine.js';
import { CanvasPen, number } from './draw.js';
import { choices, fill, learnersForm, titleOf } from './learners.js';
import { LESSONS } from './lessons.js';
import { curves, draw, nearest, picture, repaint, toPixels, toPlace, wordsOf } from './panels.js';
import { START, bytesOfData, canEdit, fileName, keepPoints, leastNoise } from './rows.js';
import { attempt, back, epoch, frameTimes, heard, pause, play, prove, relearn, reload, reset, showAll, step } from './run.js';
import { SPEEDS, choose, files, isStill, readLink, usual, words } from './state.js';
import { mistakesOf } from './words.js';

// ---------------------------------------------------------------------------------------------- points

/** From here on the rows are points of yours; the frame stays. */
function edited() {
  keepPoints();
  reload(false, true);
}
const tidy = (value, span) => +value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(span))));
const tidied = (x, y) => [tidy(x, desk.frame[1] - desk.frame[0]), tidy(y, desk.frame[3] - desk.frame[2])];
const sizeOf = (panel) => [panel.canvas.clientWidth, panel.canvas.clientHeight];
let dragged = null;

function pointerDown(event, panel) {
  if (!canEdit()) return;
  dragged = { row: nearest(panel, event.offsetX, event.offsetY), x: event.offsetX, y: event.offsetY, moved: false, erase: event.button === 2 || event.altKey };
  panel.canvas.setPointerCapture(event.pointerId);
}
function pointerMove(event, panel) {
  if (!dragged || dragged.row < 0) return;
  if (!dragged.moved && Math.hypot(event.offsetX - dragged.x, event.offsetY - dragged.y) < 4) return;
  dragged.moved = true;
  desk.places.set(tidied(...toPlace(sizeOf(panel), event.offsetX, event.offsetY)), 3 * dragged.row);
  for (const one of desk.panels) one.base = null;
  draw();
}
function pointerUp(event, panel) {
  if (!dragged) return;
  const { row, moved, erase } = dragged;
  dragged = null;
  if (moved) { edited(); return; }
  act(row, tidied(...toPlace(sizeOf(panel), event.offsetX, event.offsetY)), erase || document.querySelector('[name=tool]:checked').value === 'erase');
}
/** A click: adds a point, changes its class, or erases it. */
function act(row, place, erase) {
  const { places, classes } = desk;
  if (erase) {
    if (row >= 0) { desk.places = places.filter((_, i) => Math.floor(i / 3) !== row); say('erased'); edited(); }
    return;
  }
  if (row >= 0) {
    places[3 * row + 2] = (places[3 * row + 2] + 1) % Math.max(2, classes.length);
    say(`point ${count(row + 1)} is ${classes[places[3 * row + 2]]}`);
  } else {
    let klass = $('newclass').value;
    if (klass === 'new') {
      klass = classes.length;
      if (klass >= 6) return;
      let name = `class ${klass + 1}`;
      while (classes.includes(name)) name += '′';
      classes.push(name);
    }
    if (+klass >= classes.length) klass = 0;
    desk.places = new Float64Array([...places, ...place, +klass]);
    say(`a point of ${classes[+klass]} at ${place.map(number).join(', ')}`);
  }
  edited();
}
function canvasKey(event, panel) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const { frame } = desk, under = () => nearest(panel, ...toPixels(sizeOf(panel), ...desk.cross));
  if (moves[event.key]) {
    desk.cross ??= [(frame[0] + frame[1]) / 2, (frame[2] + frame[3]) / 2];
    const row = event.shiftKey && canEdit() ? under() : -1;
    const by = [(frame[1] - frame[0]) / 40, (frame[3] - frame[2]) / 40];
    desk.cross = tidied(desk.cross[0] + moves[event.key][0] * by[0], desk.cross[1] + moves[event.key][1] * by[1]);
    if (row >= 0) { desk.places.set(desk.cross, 3 * row); edited(); panel.canvas.focus(); }
    draw();
    const found = under();
    say(`cross at ${desk.cross.map(number).join(', ')}${found < 0 ? '' : `; ${wordsOf(found, panel).join(', ')}`}`);
  } else if (['Enter', 'Delete', 'Backspace'].includes(event.key) && desk.cross && canEdit()) {
    const kept = desk.cross;
    act(under(), tidied(...kept), event.key !== 'Enter');
    desk.cross = kept; draw();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

// ---------------------------------------------------------------------------------------------- address, back and forth

let waiting = 0, experiment = null, at = 0;

/** Keeps the settings in the address: another experiment is a step that can be undone, a round is not. */
function keepAddress() {
  clearTimeout(waiting);
  waiting = 0;
  if (desk.playing) return;
  const next = words(false), address = `#${words()}`;
  if (experiment !== null && next !== experiment) history.pushState({ at: at += 1 }, '', address);
  else history.replaceState({ at }, '', address);
  experiment = next;
}
function link() {
  clearTimeout(waiting);
  waiting = setTimeout(keepAddress, 150);
}
/** Shows what an address holds. */
function restore(hash) {
  pause();
  clearTimeout(waiting);
  readLink(hash);
  at = history.state?.at ?? at + 1;
  experiment = words(false);
  history.replaceState({ at }, '', hash || location.pathname);
  attempt(() => { dress(); learnersForm(relearn); });
  reload(true);
}
function undo() { if (waiting) keepAddress(); if (at > 0) { history.back(); say('undone'); } }
function redo() { history.forward(); say('redone'); }

// ---------------------------------------------------------------------------------------------- keys and looks

function keys(event) {
  if (document.querySelector('dialog[open]')) return;
  const { target } = event;
  if (target.matches?.('input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select')) return;
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  let does;
  if (event.ctrlKey || event.metaKey) does = letter === 'z' ? (event.shiftKey ? redo : undo) : letter === 'y' ? redo : null;
  else if (!event.altKey) {
    does = {
      ' ': target.matches?.('button, summary, input, a') ? null : () => (desk.playing ? pause() : play()), '.': step, ',': back, e: epoch, r: reset,
      ArrowRight: target.matches?.('input') ? null : step, ArrowLeft: target.matches?.('input') ? null : back,
      '+': () => faster(1), '-': () => faster(-1), h: lesson, d: theme, '?': () => $('keys-dialog').showModal(),
    }[letter];
  }
  if (!does) return;
  event.preventDefault();
  does();
}
function faster(by) { state.speed = Math.max(0, Math.min(SPEEDS.length - 1, +state.speed + by)); $('speed').value = state.speed; showAll(); link(); }
function lesson() { state.lesson = state.lesson ? '' : '1'; dress(); link(); }
function theme() { state.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; dress(); link(); }
function dress() {
  const root = document.documentElement;
  root.dataset.theme = (state.theme ? state.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light';
  forgetColours();
  $('theme').textContent = root.dataset.theme === 'dark' ? 'Light' : 'Dark';
  root.classList.toggle('lesson', !!state.lesson);
  $('lesson').setAttribute('aria-pressed', String(!!state.lesson));
  for (const part of document.querySelectorAll('[id^=part-]')) part.hidden = state.hide.split(',').includes(part.id.slice(5));
  const story = LESSONS[+state.story - 1];
  $('caption').hidden = !story;
  $('lessons').value = story ? state.story : '';
  tellStory();
  $('next').hidden = !LESSONS[+state.story];
  for (const panel of desk.panels) repaint(panel);
  if (desk.engine) showAll();
}
/** The caption of a lesson; beyond the round that it opens with, that of the step, as long as nothing else was changed. */
function tellStory() {
  const story = LESSONS[+state.story - 1];
  if (!story) { $('story').textContent = ''; return; }
  const [title, start, first, steps = {}] = story, round = +state.round;
  const reached = Object.keys(steps).map(Number).filter((step) => step <= round).at(-1);
  const isOpening = round === +(new URLSearchParams(start).get('round') ?? 0) || !isStill(start);
  const words = `${state.story}. ${title}. ${isOpening ? first : steps[reached] ?? first}`;
  if ($('story').textContent !== words) $('story').textContent = words;
}
const tell = (number) => { if (LESSONS[number - 1]) location.hash = `#${LESSONS[number - 1][1]}&story=${number}${state.lesson ? '&lesson=1' : ''}${state.theme ? `&theme=${state.theme}` : ''}`; };

// ---------------------------------------------------------------------------------------------- files

function save(name, text, type) {
  const blob = text instanceof Blob ? text : new Blob([text], { type });
  const address = URL.createObjectURL(blob);
  el('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(`${name} was saved`);
}
const traced = (form, name) => attempt(() => save(name, desk.engine.ask({ do: 'trace', learner: 0, form, rounds: Math.max(+state.round, desk.learners[0]?.rows ?? 1) }).text, 'text/plain'));

let recorder = null, filmCanvas = null;
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
  if (!desk.playing) play();
}
function stopFilm() {
  if (!recorder) return;
  recorder.stop(); recorder = null;
  $('film').setAttribute('aria-pressed', 'false');
  $('film').textContent = 'Record film';
}
function filmFrame(first = false) {
  const { panels, learners } = desk, two = panels.length > 1 ? 2 : 1, [w, h] = [panels[0].canvas.width, panels[0].canvas.height];
  if (first) { filmCanvas.width = w * two; filmCanvas.height = (h + 44) * Math.ceil(panels.length / two); }
  const context = filmCanvas.getContext('2d');
  context.fillStyle = css('--sheet');
  context.fillRect(0, 0, filmCanvas.width, filmCanvas.height);
  panels.forEach((panel, place) => {
    const [x, y] = [(place % two) * w, Math.floor(place / two) * (h + 44)], learner = learners[place];
    new CanvasPen(context).text(`${titleOf(state.learners[place])}${learner ? ` · round ${count(learner.round)}, ${mistakesOf(learner)}` : ''}`, x + 10, y + 28, css('--ink'), 18);
    context.drawImage(panel.canvas, x, y + 44);
  });
}

async function open(given) {
  pause();
  try {
    desk.engine.ask({ do: 'fits', bytes: given.size });
    files.set(given.name, new Uint8Array(await given.arrayBuffer()));
  } catch (error) { trouble(error); return; }
  choose('file', { table: given.name, test: '0' });
  reload();
  if (desk.table && !desk.table.unread) say([`${counted(desk.table.rows, 'row')} read`, ...desk.table.notes.map(readable)].join('; '));
}

// ---------------------------------------------------------------------------------------------- beginning

function listen() {
  const on = (id, event, does) => $(id).addEventListener(event, does);
  on('settings', 'submit', (event) => event.preventDefault());
  on('preset', 'change', (event) => {
    const data = event.target.value, [name] = [...files.keys()].slice(-1);
    if (data === 'file' && !name) { $('preset').value = state.data; $('file').click(); return; }
    choose(data, data === 'file' ? { table: name } : {});
    reload();
  });
  for (const id of ['n', 'dseed']) on(id, 'change', (event) => { state[id] = event.target.value; reload(); });
  on('noise', 'input', (event) => { state.noise = +(event.target.value - leastNoise(state.data)).toFixed(2); reload(); });
  for (const id of ['test', 'seed']) on(id, 'change', (event) => { state[id] = event.target.value; reload(); });
  for (const id of ['order', 'epochs', 'mistake', 'zero', 'multiclass']) on(id, 'change', (event) => { state[id] = event.target.value; relearn(); });
  on('bias', 'change', (event) => { state.bias = event.target.value; prove(); relearn(); });
  for (const id of START) on(id, 'change', () => {
    const numbers = START.map((field) => $(field).value || '0');
    if (numbers[2] === '0') numbers.pop();
    state.start = numbers.some((value) => +value !== 0) ? numbers.join(',') : '';
    relearn();
  });
  on('label', 'change', (event) => { state.label = event.target.value; state.cols = ''; reload(); });
  on('scaled', 'change', (event) => { state.scaled = event.target.checked ? '1' : ''; reload(); });
  const columns = () => {
    const { numbers } = desk.table, across = $('across').value, up = $('up').value;
    const other = up && up !== across ? up : numbers.find((name) => name !== across);
    state.cols = across === 'all' || !other ? 'all' : [across, other].map(encodeURIComponent).join(',');
    reload();
  };
  on('across', 'change', columns); on('up', 'change', columns);
  on('more', 'click', () => {
    const next = ['perceptron/averaged', 'perceptron/voted', 'perceptron/pocket', 'perceptron/last/kernel:rbf'].find((one) => !state.learners.includes(one));
    state.learners.push(next ?? 'perceptron/averaged'); learnersForm(relearn); relearn();
  });
  on('clear', 'click', () => { const { classes } = usual('points'); choose('points', { points: '', classes, test: '0' }); reload(); });
  on('play', 'click', () => (desk.playing ? pause() : play()));
  on('step', 'click', step); on('back', 'click', back); on('reset', 'click', reset); on('epoch', 'click', epoch);
  on('undo', 'click', undo); on('redo', 'click', redo);
  on('speed', 'input', (event) => { state.speed = +event.target.value; showAll(); link(); });
  on('lesson', 'click', lesson); on('theme', 'click', theme);
  on('lessons', 'change', (event) => tell(+event.target.value));
  on('next', 'click', () => tell(+state.story + 1));
  on('keys', 'click', () => $('keys-dialog').showModal());
  on('share', 'click', async () => {
    const address = `${location.href.split('#')[0]}#${words()}`;
    try { await navigator.clipboard.writeText(address); say('the link was copied'); $('share').textContent = 'Copied'; setTimeout(() => { $('share').textContent = 'Copy link'; }, 1500); } catch { keepAddress(); say('the link is in the address bar'); }
  });
  on('svg', 'click', () => save('perceptron.svg', picture(), 'image/svg+xml'));
  on('film', 'click', film);
  on('csv', 'click', () => traced('csv', 'trace.csv'));
  on('latex', 'click', () => traced('latex', 'trace.tex'));
  on('rows', 'click', () => save(fileName(), new Blob([bytesOfData()], { type: 'text/csv' })));
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
  addEventListener('popstate', () => restore(location.hash));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', dress);
  new ResizeObserver(curves).observe($('curves'));
}

/** The table that the program was started with. */
async function served() {
  const name = new URLSearchParams(location.hash.slice(1)).get('table');
  if (!name || location.hash.includes('text=')) return;
  const answer = await fetch(new URL('table', import.meta.url));
  if (answer.ok) files.set(name, new Uint8Array(await answer.arrayBuffer()));
  else trouble(`${name} is no longer there; open it again`);
}

try {
  desk.engine = await start(new URL('rosenblatt.wasm.gz', import.meta.url));
  desk.catalogue = desk.engine.ask({ do: 'catalogue' });
  for (const id of ['order', 'bias', 'mistake', 'zero', 'multiclass']) fill($(id), choices(id));
  fill($('lessons'), [['', 'Lessons …'], ...LESSONS.map(([title], place) => [String(place + 1), `${place + 1}. ${title}`])]);
  Object.assign(heard, {
    changed: link, drawn: () => { if (recorder) filmFrame(); tellStory(); }, ended: stopFilm,
    hands: { pointerdown: pointerDown, pointermove: pointerMove, pointerup: pointerUp, contextmenu: (event) => event.preventDefault(), keydown: canvasKey },
  });
  listen();
  await served();
  at = -1;
  restore(location.hash);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
} catch (error) { trouble(error); }

// For tests, and for the curious.
window.playground = { ask: (request, bytes) => desk.engine.ask(request, bytes), state: () => ({ ...state, learners: [...state.learners] }), learners: () => desk.learners, looks: () => desk.panels.map((panel) => panel.look), table: () => desk.table, frames: frameTimes, words, lessons: LESSONS };
