// The run: learners that are made, moved and looked at.

import { $, count, counted, desk, el, readable, state, trouble } from './desk.js';
import { figure } from './draw.js';
import { optionsOf, startOf, titleOf } from './learners.js';
import { curves, draw, followSpots, heatOf, makePanels, refit } from './panels.js';
import { dataForm, fileName, fitRows, read, unread } from './rows.js';
import { SPEEDS } from './state.js';
import { meaningOf, mistakesOf, percent, showKey, showProof, showUpdate } from './words.js';

const MOST_PROVED = 3000, MOST_STUDIED = 30; // rows and classes that are studied unasked
const frames = []; // how long the last ones took
let owed = 0, last = 0, reported = 0;

/** What others want to know: that the settings are others, that a frame was drawn, that a run has ended. */
export const heard = { changed: () => {}, drawn: () => {}, ended: () => {}, hands: {} };
export const frameTimes = () => [...frames];

let depth = 0;
/** Does what it is given, and shows the engine's complaint if there is one; that of a part stays until the whole is tried again. */
export function attempt(work) {
  if (depth === 0) trouble(null);
  depth += 1;
  try { return work(); } catch (error) { trouble(error); pause(); return undefined; } finally { depth -= 1; }
}

/** Reads the rows again, then proves and learns anew. */
export function reload(keepRound = false, keepFrame = false) {
  pause();
  if (!keepRound) state.round = 0;
  attempt(() => {
    let failed = null;
    try { read(); } catch (error) { failed = unread(error); }
    if (!keepFrame) fitRows();
    makePanels(heard.hands, resized);
    refit();
    dataForm();
    prove();
    relearn(keepRound);
    if (failed) throw failed;
  });
}

export function relearn(keepRound = false) {
  pause();
  if (!keepRound) state.round = 0;
  makePanels(heard.hands, resized);
  const { table } = desk;
  attempt(() => {
    desk.learners = [];
    for (const panel of desk.panels) Object.assign(panel, { history: [], look: null, heat: null, border: null, rings: null, frame: null, ended: false });
    if (table && table.rows > 0 && table.classes.length > 1) {
      const start = startOf();
      desk.learners = desk.engine.ask({ do: 'learn', learners: state.learners.map(optionsOf), ...(start ? { from: { start } } : {}) }).learners;
      if (+state.round > 0) retrace(+state.round);
      lookAll();
    }
    command();
  });
  dataForm();
  showAll();
  heard.changed();
}

/** Goes to a round in a few leaps, so that there are curves to look at, as long as that is quick. */
function retrace(round) {
  const began = performance.now(), leaps = Math.min(24, round);
  for (let leap = 0; leap < leaps && performance.now() - began < 250; leap += 1) {
    if (leap > 0) go(Math.round(round * leap / leaps));
    desk.panels.forEach((panel, place) => {
      const { errors } = desk.engine.ask({ do: 'look', learner: place });
      if (panel.history.at(-1)?.round !== desk.learners[place].round || leap === 0) panel.history.push({ round: desk.learners[place].round, train: errors[0], test: errors[1] });
    });
  }
  go(round);
}

/** Has all learners go to the end of a round. */
function go(round) {
  const target = Math.max(0, Math.floor(round));
  desk.learners = desk.engine.ask({ do: 'go', round: target }).learners;
  state.round = Math.max(0, ...desk.learners.map((one) => one.round));
  for (const panel of desk.panels) {
    panel.history = panel.history.filter((point) => point.round < state.round || point.round === 0);
    panel.stale = true;
  }
}
/** Colours for pictures of another shape. */
function resized() {
  for (const panel of desk.panels) Object.assign(panel, { stale: true, ended: false });
  if (!desk.playing && desk.learners.length) attempt(() => lookAll());
  draw();
}
const isOver = () => desk.learners.length > 0 && desk.learners.every((one) => one.ending);

/** Asks for classes, errors and heat of the learners that need it, as long as the time allows. */
function lookAll(budget = Infinity) {
  const began = performance.now(), { engine, table } = desk;
  // The one that waited longest comes first.
  const waiting = desk.panels.filter((panel) => panel.stale !== false || !panel.look).sort((a, b) => (a.seen ?? 0) - (b.seen ?? 0));
  for (const panel of waiting) {
    if (performance.now() - began > budget) break;
    const learner = desk.learners[panel.place];
    if (!learner) continue;
    if (panel.ended && panel.look && learner.ending && panel.seenRound === learner.round) { panel.stale = false; continue; }
    panel.look = engine.ask({ do: 'look', learner: panel.place });
    const numbers = engine.numbers(table.rows * (panel.look.view ? 3 : 1));
    panel.look.classes = numbers.subarray(0, table.rows);
    if (panel.look.view) {
      panel.look.spots = numbers.subarray(table.rows);
      followSpots(panel);
    }
    // While it plays, colours follow the lines a little later.
    const hurried = budget < Infinity;
    if (!panel.look.view && (!hurried || performance.now() - (panel.heated ?? 0) > 120)) {
      const { cells } = engine.ask({ do: 'heat', learner: panel.place, cells: table.rows > 600 || hurried ? 40 : 80, frame: desk.frame });
      panel.heat = heatOf(engine.numbers(cells * cells * 2), cells, panel);
      panel.heated = performance.now();
    }
    panel.stale = false;
    panel.seen = performance.now();
    panel.seenRound = learner.round;
    panel.ended = !!learner.ending;
    if (panel.history.at(-1)?.round !== learner.round) panel.history.push({ round: learner.round, train: panel.look.errors[0], test: panel.look.errors[1] });
    if (panel.history.length > 2000) panel.history = panel.history.filter((_, i) => i % 2 === 0);
  }
}

function stepTo(round, aloud = true) {
  if (!desk.learners.length) return;
  attempt(() => { go(round); lookAll(); });
  showAll(aloud);
  heard.changed();
}
export const step = () => { pause(); if (!isOver()) stepTo(+state.round + 1); };
export const back = () => { pause(); if (state.round > 0) stepTo(state.round - 1); };
export const reset = () => { pause(); for (const panel of desk.panels) panel.history = []; stepTo(0); };
export function epoch() {
  pause();
  const rows = desk.learners[0]?.rows ?? 1;
  if (!isOver()) stepTo((Math.floor(state.round / rows) + 1) * rows);
}
export function play() {
  if (!desk.learners.length) return;
  if (isOver()) reset();
  desk.playing = true; owed = 0; last = performance.now();
  $('play').textContent = 'Pause';
  requestAnimationFrame(tickOn);
}
export function pause() {
  if (!desk.playing) return;
  desk.playing = false;
  $('play').textContent = 'Play';
  attempt(() => { if (desk.learners.length) lookAll(); });
  showAll();
  heard.changed();
}
function tickOn(now) {
  if (!desk.playing) return;
  const began = performance.now();
  owed += Math.min(0.25, (now - last) / 1000) * SPEEDS[state.speed];
  last = now;
  if (owed >= 1) {
    const rounds = Math.floor(owed);
    owed -= rounds;
    const fine = attempt(() => { go(+state.round + rounds); lookAll(5); return true; });
    if (!fine) { desk.playing = false; $('play').textContent = 'Play'; return; }
    showAll(false);
    if (isOver()) { pause(); heard.ended(); return; }
    frames.push(performance.now() - began);
    if (frames.length > 600) frames.shift();
  }
  requestAnimationFrame(tickOn);
}

export function prove(anyway = false) {
  desk.proof = null; desk.proofError = null;
  const { table } = desk;
  if (!table || !table.rows || table.classes.length < 2) return;
  if ((table.rows > MOST_PROVED || table.classes.length > MOST_STUDIED) && !anyway) { desk.proofError = 'many'; return; }
  try { desk.proof = desk.engine.ask({ do: 'certify', bias: state.bias }); } catch (error) { desk.proofError = error.message; }
}
function command() {
  $('command').value = desk.learners.map((_, place) => desk.engine.ask({ do: 'command', learner: place }).text).join('\n');
  $('rows-hint').textContent = state.data === 'file' ? '' : `Save the rows first: “Rows (CSV)” writes ${fileName()}.`;
}

export function showAll(aloud = false) {
  draw();
  heard.drawn();
  // Words that change sixty times a second cannot be read.
  if (desk.playing && performance.now() - reported < 120) return;
  reported = performance.now();
  curves();
  const { learners, table } = desk;
  desk.panels.forEach((panel, place) => {
    const learner = learners[place], { look } = panel;
    panel.round.textContent = learner ? mistakesOf(learner) : '';
    const plane = look?.planes.length === 1 ? look.planes[0] : null;
    const facts = !learner || !look ? [] : [
      ['error', percent(look.errors[0])], ...(table.test.length ? [['held-out error', percent(look.errors[1])]] : []),
      ['updates', count(learner.updates)],
      ...(look.margin !== null ? [['margin', figure(look.margin)]] : []),
      ...(plane ? [['|w|', figure(plane.norm)]] : []),
      ...(look.support !== null ? [['support vectors', count(look.support)]] : []),
    ];
    panel.stats.replaceChildren(...facts.map(([name, value]) => el('span', {}, `${name} `, el('b', { textContent: value }))));
    const meaning = learner?.ending ? meaningOf(learner.ending) : '';
    panel.ending.replaceChildren(readable(learner?.ending ?? ''), ...(meaning && learners.length < 3 ? [el('p', { textContent: meaning })] : []));
    panel.ending.title = meaning;
    panel.ending.classList.toggle('not', !!learner?.ending && !learner.ending.startsWith('converged'));
    const words = `${titleOf(state.learners[place])}. ${learner ? `Round ${count(learner.round)}, ${mistakesOf(learner)}` : 'not started'}${look ? `, error ${percent(look.errors[0])}` : ''}. ${counted(table ? table.rows : 0, 'point')}.`;
    panel.canvas.setAttribute('aria-label', words);
  });
  const epochs = learners.map((one) => Math.max(1, one.rounds[0]?.epoch ?? 1));
  $('clock').replaceChildren(...(learners.length ? [`round ${count(state.round)}`, `epoch ${count(Math.max(...epochs))}`] : []).map((textContent) => el('span', { textContent })));
  for (const output of document.querySelectorAll('output[for="speed"]')) output.textContent = `${count(SPEEDS[state.speed])}/s`;
  showUpdate(aloud);
  showProof({
    prove: () => { prove(true); relearn(true); },
    learnBias: () => { state.bias = 'learned'; prove(); relearn(); },
  });
  showKey();
}
