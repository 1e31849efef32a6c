// What happens in words and numbers: the update, the proof, and what the marks on the pictures mean.

import { $, count, counted, css, desk, el, lineOf, state } from './desk.js';
import { MOST_COLOURS, colourOf, figure, number, swatch } from './draw.js';
import { isPlain, partOf, readoutOf, ruleOf, startOf, titleOf } from './learners.js';

const vector = (list) => `(${list.slice(0, 6).map(number).join(',\u00a0')}${list.length > 6 ? ',\u00a0…' : ''})`;
/** A share; one that is small is not nothing. */
export const percent = (share) => (share === null || share === undefined ? '–' : share > 0 && share < 0.0005 ? '< 0.1 %' : `${number(Math.round(1000 * share) / 10)} %`);
/** Of how many decisions mistakes are counted. */
export const mistakesOf = (learner) => {
  const outputs = desk.table.classes.length > 2 && state.multiclass === 'one-vs-rest' ? ` of ${desk.table.classes.length} outputs` : '';
  return `${counted(learner.mistakes, 'mistake')}${outputs}`;
};

const WHY = {
  le0: ['y·score ≤ 0', 'by the convention le0, a score on the line is a mistake, too'],
  lt0: ['y·score < 0', 'by the convention lt0, a score of zero is no mistake'],
  pred: ['the predicted class is another', 'by the convention pred, only a wrong class is a mistake'],
};

/** A row of a table; the first cell heads it. */
const line = (head, ...cells) => el('tr', {}, head === '' ? el('td') : el('th', { textContent: head, scope: 'row' }), ...cells.map((cell) => el('td', { textContent: cell })));
const header = (...names) => el('tr', {}, ...names.map((name) => (name === '' ? el('td') : el('th', { textContent: name, scope: 'col' }))));

/** The features of a row in the order of the weights; nothing if the picture does not show them all. */
export function featuresOf(row) {
  const { table, places } = desk;
  if (table.features.length > 2) return null;
  const [across, up] = table.slice?.columns ?? [0, 1], x = [];
  x[across] = places[3 * row];
  if (up !== across) x[up] = places[3 * row + 1];
  return x;
}

/** What a learner begins with. */
function beginning(words) {
  if (ruleOf(words) === 'mlp') return 'the weights are small numbers that the seed draws';
  const start = isPlain(words) ? startOf() : '';
  if (!start) return 'all weights are zero';
  const numbers = start.split(',').map(Number), n = desk.table.features.length;
  return `w = ${vector(numbers.slice(0, n))}${state.bias === 'none' ? '' : `, b = ${number(numbers[n] ?? 0)}`}`;
}

export function showUpdate(aloud) {
  const box = $('update'), { table, learners, panels } = desk;
  box.setAttribute('aria-live', aloud ? 'polite' : 'off');
  const only = (textContent) => box.replaceChildren(el('p', { textContent }));
  if (table?.unread) return only('No rows were read.');
  if (!table || !table.rows) return only('Click on the picture to add points of two classes, or choose a data set.');
  if (table.classes.length < 2) return only('Points of a second class are needed: choose it under “New points are”, and click.');
  const words = state.learners[0], shown = learners[0]?.rounds ?? [];
  if (!shown.length) return only(`Before the first round ${beginning(words)}. Press Play, or step.`);
  const round = shown.find((one) => one.mistaken || one.step) ?? shown[0];
  const binary = table.classes.length === 2;
  const x = featuresOf(round.row);
  const linear = round.before && x && x.length === round.w.length;
  const hasBias = state.bias !== 'none';
  const parts = [];
  const p = (textContent, more = {}) => parts.push(el('p', { textContent, ...more }));
  const asked = binary ? '' : `, output ${table.classes[round.output] ?? round.output + 1}`;
  p(`Round ${count(round.round)}, epoch ${count(round.epoch)}: row ${count(round.row + 1)}${x ? `, x = ${vector(x)}` : ''}, class ${table.classes[round.class]}${asked}, y = ${round.side > 0 ? '+1' : '−1'}`);
  if (linear) {
    const [w, b] = round.before;
    const held = (value, first) => (value < 0 && !first ? `(${number(value)})` : number(value));
    const sum = w.map((weight, i) => `${held(weight, i === 0)}·${held(x[i])}`).join(' + ');
    p(`score = w·x${hasBias ? ' + b' : ''} = ${sum}${hasBias ? ` + ${held(b)}` : ''} = ${number(round.activation)}`);
  } else p(`score = ${number(round.activation)}`);
  const product = round.side * round.activation;
  const together = !binary && state.multiclass.startsWith('direct');
  const [test, convention] = WHY[state.mistake] ?? WHY.le0;
  const isNetwork = ruleOf(words) === 'mlp', isKernel = !!partOf(words, 'kernel:');
  const verdict = isNetwork ? `${round.mistaken ? 'a mistake' : 'right'}: y·score = ${number(product)}`
    : together ? (round.mistaken ? 'a mistake: another class has as high a score, or a higher one' : 'right: no other class has as high a score')
      : round.mistaken ? `a mistake: y·score = ${number(product)}, and ${test}` : round.step ? `right, but close: y·score = ${number(product)}` : `right: y·score = ${number(product)}`;
  p(verdict, { className: `verdict ${round.mistaken ? 'mistake' : 'right'}`, title: convention });
  if (round.step) {
    const { amount, keep } = round.step;
    const sign = amount < 0 ? '−' : '+', size = Math.abs(amount) === 1 ? '' : `${number(Math.abs(amount))} `;
    if (isNetwork) p('so all weights take a step down the gradient of the loss; dashed lines are where hidden units change sides.');
    else if (isKernel) p(`so this row counts ${sign}${number(Math.abs(amount))} from now on: score ← score ${sign} ${size}k(x, ·)`);
    else p(`so w ← ${keep === 1 ? '' : `${number(keep)} `}w ${sign} ${size}x${together ? ' for its class, and the opposite for its rivals' : ''}`);
    if (linear && !isNetwork) {
      const [w, b] = round.before;
      const rows = [['before', vector(w), number(b)], ['after', vector(round.w), number(round.b)]];
      parts.push(el('table', {}, header('', 'w', ...(hasBias ? ['b'] : [])), ...rows.map((cells) => line(...cells.slice(0, hasBias ? 3 : 2)))));
    }
  } else p('so nothing moves.');
  const rule = desk.catalogue.algorithms.find((one) => one.name === ruleOf(words));
  if (rule && rule.name !== 'perceptron') p(`${rule.name}: ${rule.update}`, { className: 'hint' });
  if (panels.length > 1) p(`of learner 1, ${titleOf(words)}`, { className: 'hint' });
  box.replaceChildren(...parts);
  return undefined;
}

/** Two rows that are alike but for their classes, if the picture shows all there is of them. */
function twins() {
  const { table, places } = desk, met = new Map();
  if (table.features.length > 2) return null;
  for (let row = 0; row < table.rows; row += 1) {
    const key = `${places[3 * row]},${places[3 * row + 1]}`, first = met.get(key);
    if (first === undefined) met.set(key, row);
    else if (places[3 * first + 2] !== places[3 * row + 2]) return [first, row];
  }
  return null;
}
/** What it means that a run ends because its weights come back, where the engine does not prove it itself. */
export function meaningOf(ending) {
  if (!/weights are what they were/.test(ending) || /separates/.test(ending)) return '';
  const found = twins(), cannot = desk.proof?.studies?.some((study) => study.verdict === 'inseparable');
  const why = found ? ` Rows ${count(found[0] + 1)} and ${count(found[1] + 1)} have equal features but different classes, so no line separates them.`
    : cannot ? ' No line separates all classes (see the proof).' : '';
  return `The updates in between cancel out: the weights go in circles.${why}`;
}

const SVG = 'http://www.w3.org/2000/svg';
/** Two numbers on one bar: the first may not pass the second. */
function meter(words, small, large, smallName, largeName) {
  const most = Math.max(small, large, 1e-12) * 1.05;
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 100 8'); svg.setAttribute('preserveAspectRatio', 'none'); svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${smallName} ${figure(small)}, ${largeName} ${figure(large)}`);
  const bar = (x, wide, fill) => { const one = document.createElementNS(SVG, 'rect'); for (const [k, v] of Object.entries({ x, y: 0, width: Math.max(0, wide), height: 8, fill })) one.setAttribute(k, v); svg.append(one); };
  bar(0, small / most * 100, css('--bar'));
  bar(large / most * 100 - 0.6, 1.2, css('--ink'));
  return el('div', { className: 'meter' }, el('div', {}, el('span', { textContent: words })), svg,
    el('div', {}, el('span', { textContent: `${smallName} = ${figure(small)}` }), el('span', { textContent: `${largeName} = ${figure(large)}` })));
}

/** The rows that contradict each other, each with its share of the sum that is nothing. */
function certificate(rows) {
  const total = rows.reduce((sum, { weight }) => sum + BigInt(weight), 0n);
  const share = (weight) => percent(Number(BigInt(weight) * 1000000n / total) / 1000000 || Number.MIN_VALUE);
  return el('table', {}, header('row', 'class', 'share'),
    ...rows.slice(0, 8).map(({ row, class: name, weight }) => line(`row ${count(row)}`, name, share(weight))));
}

/** What can be proved; `prove` tries it on many rows, too, and `learnBias` lets the line off the origin. */
export function showProof({ prove, learnBias }) {
  const box = $('proof'), parts = [], { proof, proofError, table, learners } = desk;
  const p = (textContent, className = '') => parts.push(el('p', { textContent, className }));
  const button = (textContent, onclick) => parts.push(el('button', { type: 'button', textContent, onclick }));
  if (proofError === 'many') {
    p(`${counted(table.rows, 'row')}${table.classes.length > 2 ? ` of ${counted(table.classes.length, 'class', 'classes')}` : ''}: the proof may take a while.`);
    button('Prove it', prove);
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
          if (through) button('Learn a bias, too', learnBias);
          p('These rows contradict each other (violet diamonds): multiplied by their shares and their y, they add up to zero, so no w can have y·score > 0 for all.');
          parts.push(certificate(rows));
          if (rows.length > 8) p(`… ${counted(rows.length, 'row')} in all`, 'hint');
        }
      } else p(`${sides}not decided in the time that a page takes; \`rosenblatt certify\` goes on.`);
    }
    if (proof.bound) {
      const { margin, radius, 'most-mistakes': most } = proof.bound;
      p(`margin γ = ${figure(margin)}, radius R = ${figure(radius)}${state.bias === 'none' ? '' : ' (bias as a feature that is always 1)'}`);
      const learner = learners[0], meters = learner?.meters;
      const k = learner?.updates ?? 0;
      if (startOf()) {
        p(`(R/γ)² = ${figure(most)} bounds the mistakes of a run that starts from zero. From other weights every mistake still adds at least γ to w·u and at most R² to |w|², on top of what they start with.`, 'hint');
        box.replaceChildren(...parts);
        return;
      }
      parts.push(meter('mistakes never exceed (R/γ)²', k, most, 'mistakes', '(R/γ)²'));
      if (meters) {
        parts.push(meter('every mistake takes w at least γ along u', k * margin, meters.progress, `${count(k)}·γ`, 'w·u'));
        parts.push(meter('every mistake adds at most R² to |w|²', meters.norm2, k * radius * radius, '|w|²', `${count(k)}·R²`));
        p('As w·u ≤ |w|, both can hold only while mistakes ≤ (R/γ)².', 'hint');
      } else if (learner?.rounds?.length) p('The two inequalities are about the perceptron that adds whole examples on mistakes.', 'hint');
    }
  }
  box.replaceChildren(...parts);
}

/** The classes that a legend names: as many as have a colour, fewer where their names are long, but ten at least. */
function namesThatFit(classes) {
  let letters = 0;
  return classes.slice(0, MOST_COLOURS).filter((name, place) => { letters += name.length + 5; return place < 10 || letters <= 300; });
}

/** What a ring means, and how many there are where not every row has its own. */
function ringsOf(panels) {
  const thinned = panels.filter((panel) => panel.rings && panel.rings.drawn < panel.rings.wrong);
  if (!thinned.length) return 'misclassified';
  if (panels.length > 1) return 'misclassified (rings on some)';
  return `misclassified (rings on ${count(thinned[0].rings.drawn)} of ${count(thinned[0].rings.wrong)})`;
}

/** What the marks on the pictures mean: those that are on them. */
export function showKey() {
  const { table, panels, proof, learners } = desk, ink = css('--ink'), keys = [];
  const add = (mark, words, more = {}) => keys.push(el('span', more, swatch(mark), el('span', { textContent: words })));
  if (table?.rows) {
    const named = namesThatFit(table.classes);
    named.forEach((name, klass) => add({ klass, fill: colourOf(klass), edge: css('--sheet') }, name, { className: 'name', title: name }));
    if (table.classes.length > named.length) keys.push(el('span', { textContent: `and ${counted(table.classes.length - named.length, 'more class', 'more classes')}` }));
    if (table.test.length) add({ klass: 0, stroke: colourOf(0) }, 'hollow: held out');
    const looks = panels.map((panel) => panel.look).filter(Boolean);
    if (looks.length) add({ ring: css('--wrong') }, ringsOf(panels));
    if (learners.some((one) => one.rounds?.length)) add({ ring: ink, second: true }, 'current example');
    if (proof?.studies?.length === 1 && proof.studies[0].contradiction) add({ klass: 3, stroke: css('--proof') }, 'contradicts the others');
    const single = looks.some((look) => look.planes.length === 1);
    if (single || looks.some((look) => look.view) || panels.some((panel) => panel.border?.length)) add({ line: ink }, 'decision boundary');
    if (single && looks.some((look) => look.margin > 0)) add({ line: ink, dash: '3 3' }, 'margin');
    if (looks.some((look) => look.planes.length > 1 && !look.view)) add({ line: colourOf(0), dash: '5 3' }, 'one class against the others');
    if (looks.some((look) => look.units?.length)) add({ line: css('--soft'), dash: '5 3' }, 'hidden unit');
    if (panels.some((panel) => panel.sum)) { add({ line: css('--soft'), dash: '2 2' }, 'w before'); add({ line: colourOf(panels.find((panel) => panel.sum).sum.klass) }, 'y·x added'); add({ line: ink }, 'w after'); }
  }
  $('key').replaceChildren(...keys);
  const lines = panels.map((_, place) => {
    const { stroke, dash } = lineOf(place), name = `${panels.length > 1 ? `${place + 1} ` : ''}${titleOf(state.learners[place])}`;
    return el('span', {}, swatch({ line: stroke, dash: dash.join(' ') }), el('span', { textContent: name }));
  });
  const dots = swatch({ line: ink, dash: lineOf(0, true).dash.join(' ') });
  $('legend').replaceChildren(...lines, ...(table?.test.length ? [el('span', {}, dots, el('span', { textContent: 'with dots: held-out rows' }))] : []));
}

/** Whether the picture can show an update as a sum of arrows: the weights are what it predicts with. */
export const showsSum = (words) => isPlain(words) && ['', 'last'].includes(readoutOf(words)) && desk.table.features.length === 2 && desk.table.classes.length === 2;
