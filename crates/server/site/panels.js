// The pictures: a panel for each learner, what is drawn on it, and what a pointer says of it.

import { $, count, counted, css, desk, el, lineOf, state } from './desk.js';
import { CanvasPen, SvgPen, across, borders, colourOf, figure, number, tick } from './draw.js';
import { titleOf } from './learners.js';
import { shaped } from './rows.js';
import { featuresOf, mistakesOf, percent, showsSum } from './words.js';

const AXES = {
  distance: (table) => [`signed distance to the hyperplane: ${table.classes[1]} on the right`, 'first principal component'],
  score: (table) => [`score of ${table.classes[1]}`, 'first principal component'],
  rival: () => ['score of the row’s own class', 'highest score of another class'],
};
/** More misclassified rows than this have no ring each: about as many of them are ringed. */
const MOST_RINGS = 250;
/** How many times the text of the page letters in pictures are. */
const letters = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** A panel for each learner; `hands` is what listens to the pointer and the keys on them, `resized` to their shape. */
export function makePanels(hands, resized) {
  const amount = state.learners.length;
  if (desk.panels.length !== amount) {
    desk.panels = state.learners.map((_, place) => panelOf(place, hands, resized));
    $('panels').replaceChildren(...desk.panels.map((panel) => panel.box));
  }
  $('panels').style.setProperty('--across', amount === 1 ? 1 : 2);
  $('panels').classList.toggle('two', amount > 1);
  desk.panels.forEach((panel, place) => {
    panel.title.textContent = titleOf(state.learners[place]);
    panel.title.title = panel.title.textContent;
    panel.number.hidden = amount === 1;
    panel.base = null;
  });
}

function panelOf(place, hands, resized) {
  const canvas = el('canvas', { tabIndex: 0, role: 'application', ariaRoleDescription: 'picture with points' });
  const number = el('b', { className: 'number', textContent: String(place + 1) }), title = el('span', { className: 'title' }), round = el('small'), tip = el('div', { className: 'tip', hidden: true, ariaHidden: 'true' });
  const stats = el('div', { className: 'stats' }), ending = el('div', { className: 'ending' });
  const heading = el('h2', {}, el('span', {}, number, title), round);
  const box = el('section', { className: 'panel', ariaLabel: `Learner ${place + 1}` }, heading, el('div', { className: 'sheet' }, canvas, tip), stats, ending);
  const panel = { place, canvas, number, title, round, stats, ending, tip, box, history: [], look: null, heat: null, base: null, stale: true };
  for (const [name, does] of Object.entries(hands)) canvas.addEventListener(name, (event) => does(event, panel));
  canvas.addEventListener('pointermove', (event) => showTip(event, panel));
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('blur', () => { desk.cross = null; draw(); });
  new ResizeObserver(() => { panel.base = null; if (place === 0) { refit(); resized(); } }).observe(canvas);
  return panel;
}
const shapeOf = (canvas) => (canvas?.clientWidth || 5) / (canvas?.clientHeight || 4);
/** The frame again, for other rows or a picture of another shape. */
export function refit() {
  desk.frame = shaped(desk.extent, shapeOf(desk.panels[0]?.canvas));
  for (const panel of desk.panels) panel.base = null;
}

function sized(canvas) {
  const scale = Math.min(2, devicePixelRatio || 1);
  const [w, h] = [canvas.clientWidth || 400, canvas.clientHeight || 320];
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(w * scale); canvas.height = Math.round(h * scale);
  }
  return [w, h, scale];
}
export const toPixels = ([w, h], x, y, frame = desk.frame) => [(x - frame[0]) / (frame[1] - frame[0]) * w, (frame[3] - y) / (frame[3] - frame[2]) * h];
export const toPlace = ([w, h], x, y) => { const { frame } = desk; return [frame[0] + x / w * (frame[1] - frame[0]), frame[3] - y / h * (frame[3] - frame[2])]; };
const sizeOf = (canvas) => [canvas.clientWidth, canvas.clientHeight];

/** Where a panel shows the rows: two numbers each, and the frame around them. */
function seen(panel) {
  const view = panel?.look?.view;
  if (!view) return { frame: desk.frame, at: (row) => [desk.places[3 * row], desk.places[3 * row + 1]] };
  const { frame } = panel, { spots } = panel.look;
  const within = (value, low, high) => Math.max(low, Math.min(high, value));
  // Outliers stand at the edge.
  const edge = [0.012 * (frame[1] - frame[0]), 0.012 * (frame[3] - frame[2])];
  return { view, frame, at: (row) => [within(spots[2 * row], frame[0] + edge[0], frame[1] - edge[0]), within(spots[2 * row + 1], frame[2] + edge[1], frame[3] - edge[1])] };
}

/** A frame for places that move with every round: it follows only when they leave it, or are lost in it. */
export function followSpots(panel) {
  const { spots, view } = panel.look, n = spots.length / 2;
  const size = (values) => { const sorted = [...values].filter(Number.isFinite).sort((a, b) => a - b); return (share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0; };
  const xs = Array.from({ length: n }, (_, i) => spots[2 * i]), ys = Array.from({ length: n }, (_, i) => spots[2 * i + 1]);
  let next;
  if (view === 'rival') {
    const all = size([...xs, ...ys]), [low, high] = [all(0.01), all(0.99)], room = 0.1 * (high - low) || 1;
    next = [low - room, high + room, low - room, high + room];
  } else {
    const far = 1.15 * size(xs.map(Math.abs))(0.98) || 1, up = size(ys), room = 0.12 * (up(1) - up(0)) || 1;
    next = [-far, far, up(0.005) - room, up(0.995) + room];
  }
  const now = panel.frame, wide = (frame) => frame[1] - frame[0];
  const fits = now && panel.seenAs === view && wide(next) <= wide(now) && wide(next) > 0.5 * wide(now) && next[0] >= now[0] && next[1] <= now[1] && next[2] >= now[2] && next[3] <= now[3];
  if (!fits) { panel.frame = next; panel.base = null; }
  panel.seenAs = view;
}

/** Paints what a learner predicts cell by cell, and finds where it changes. */
export function heatOf(values, cells, panel, frame = desk.frame) {
  const canvas = panel.heat ?? document.createElement('canvas');
  if (canvas.width !== cells) { canvas.width = cells; canvas.height = cells; }
  const context = canvas.getContext('2d');
  const image = context.createImageData(cells, cells);
  const { classes } = desk.table, binary = classes.length === 2;
  let most = 0;
  for (let i = 1; i < values.length; i += 2) { const size = Math.abs(values[i]); if (size > most && Number.isFinite(size)) most = size; }
  const paints = classes.map((_, klass) => [1, 3, 5].map((at) => parseInt(colourOf(klass).slice(at, at + 2), 16)));
  for (let i = 0; i < cells * cells; i += 1) {
    const [klass, score] = [values[2 * i], values[2 * i + 1]];
    const strength = most > 0 ? Math.sqrt(Math.min(1, Math.abs(score) / most)) : 0;
    const alpha = score === 0 && binary ? 0 : 40 + 110 * strength;
    image.data.set([...(paints[klass] ?? [128, 128, 128]), alpha], 4 * i);
  }
  context.putImageData(image, 0, 0);
  Object.assign(canvas, { frame, values });
  panel.border = panel.look?.planes.length === 1 ? [] : borders(values, cells);
  return canvas;
}
/** The same cells in other colours. */
export function repaint(panel) {
  panel.base = null;
  if (panel.heat && desk.table) heatOf(panel.heat.values, panel.heat.width, panel, panel.heat.frame);
}

const pointRadius = (w) => {
  const rows = desk.places.length / 3, most = w > 900 ? 11 : w > 500 ? 8 : 6;
  return rows <= 30 ? most : rows <= 300 ? most * 0.7 : rows <= 3000 ? 3.2 : 1.6;
};

/** The sides of the classes, where they are not asked for cell by cell. */
function drawSides(pen, [w, h], view, frame) {
  if (view === 'rival') {
    const [low, high] = [toPixels([w, h], frame[0], frame[0], frame), toPixels([w, h], frame[1], frame[1], frame)];
    pen.area([low, high, [0, 0]], css('--wrong'), 0.12);
  } else {
    const [x] = toPixels([w, h], 0, 0, frame);
    pen.area([[0, 0], [x, 0], [x, h], [0, h]], colourOf(0), 0.22);
    pen.area([[x, 0], [w, 0], [w, h], [x, h]], colourOf(1), 0.22);
  }
}

/** What stays while a run goes on: paper, axes and points. */
function drawBase(pen, size, panel) {
  const [w, h] = size, ink = css('--soft'), rule = css('--line'), { table } = desk;
  const { view, frame, at } = seen(panel), big = CanvasPen.letters;
  const grid = (from, to, place) => {
    const by = tick(to - from, 6);
    for (let value = Math.ceil(from / by) * by; value <= to; value += by) place(Math.abs(value) < by / 1e6 ? 0 : value);
  };
  if (view) drawSides(pen, size, view, frame);
  grid(frame[0], frame[1], (x) => {
    const [px] = toPixels(size, x, 0, frame);
    pen.line([[px, 0], [px, h]], x === 0 ? ink : rule, x === 0 ? 1.1 : 0.5);
    if (px > 14 * big && px < w - 14 * big) pen.text(figure(x), px, h - 5, ink, 12.5, 'middle');
  });
  grid(frame[2], frame[3], (y) => {
    const [, py] = toPixels(size, 0, y, frame);
    pen.line([[0, py], [w, py]], y === 0 ? ink : rule, y === 0 ? 1.1 : 0.5);
    if (py > 30 * big && py < h - 20 * big) pen.text(figure(y), 5, py - 3, ink, 12.5);
  });
  if (table) {
    const names = view ? AXES[view](table) : table.slice?.principal ? ['first principal component', 'second principal component'] : table.cols ?? table.features;
    if (names[0]) pen.text(names[0], w - 8, h - 20 * big, ink, 13, 'end');
    if (names[1] && table.features.length > 1) pen.text(names[1], 8, 16 * big, ink, 13);
  }
  const radius = pointRadius(w), byClass = new Map();
  for (let row = 0; row < desk.places.length / 3; row += 1) {
    const key = `${desk.places[3 * row + 2]}/${desk.isTest[row] ?? 0}`;
    if (!byClass.has(key)) byClass.set(key, []);
    byClass.get(key).push(toPixels(size, ...at(row), frame));
  }
  for (const [key, list] of byClass) {
    const [klass, test] = key.split('/').map(Number);
    if (test) pen.points(list, klass, radius, null, colourOf(klass), 1.6);
    else pen.points(list, klass, radius, colourOf(klass), css('--sheet'), radius > 3 ? (desk.places.length > 300 ? 0.7 : 1.2) : 0, desk.places.length > 3000 ? 0.75 : 1);
  }
}

/** What moves: boundary, margin, weight vector, rings. */
function drawLive(pen, size, panel) {
  const { table, places, proof } = desk, learner = desk.learners[panel.place], { look } = panel, radius = pointRadius(size[0]);
  const [w, h] = size, ink = css('--ink'), { view, frame, at } = seen(panel);
  const pixels = ([x, y]) => toPixels(size, x, y, frame);
  const shown = learner?.rounds?.find((one) => one.step) ?? learner?.rounds?.[0];
  panel.sum = false;
  if (look && table) {
    const wrong = [];
    for (let row = 0; row < table.rows; row += 1) if (look.classes[row] !== places[3 * row + 2]) wrong.push(row);
    // Scattered by their numbers, so that rings stay where they are while a run goes on.
    const share = wrong.length > MOST_RINGS ? MOST_RINGS / wrong.length : 1;
    const ringed = share === 1 ? wrong : wrong.filter((row) => (Math.imul(row + 1, 2654435761) >>> 0) / 2 ** 32 < share);
    panel.rings = { drawn: ringed.length, wrong: wrong.length };
    pen.rings(ringed.map((row) => pixels(at(row))), radius + 2.5, css('--wrong'), radius > 3 ? 2 : 1.2);
    if (view) {
      const ends = view === 'rival' ? [[frame[0], frame[0]], [frame[1], frame[1]]] : [[0, frame[2]], [0, frame[3]]];
      pen.line(ends.map(pixels), ink, 2.6);
      if (view === 'distance' && look.margin > 0) for (const side of [-1, 1]) pen.line([[side * look.margin, frame[2]], [side * look.margin, frame[3]]].map(pixels), ink, 1.3, [5, 5]);
    } else {
      if (panel.heat && panel.border?.length) {
        const [left, right, bottom, top] = panel.heat.frame;
        const spot = ([x, y]) => pixels([left + x * (right - left), top + y * (bottom - top)]);
        pen.pieces(panel.border.map((piece) => piece.map(spot)), ink, 2.6);
      }
      for (const unit of look.units ?? []) {
        const ends = across(unit.line, frame);
        if (ends) pen.line(ends.map(pixels), css('--soft'), 1.8, [7, 5]);
      }
      look.planes.forEach((plane, output) => {
        const ends = across(plane.line, frame), binary = look.planes.length === 1;
        if (ends) pen.line(ends.map(pixels), binary ? ink : colourOf(output), binary ? 2.6 : 1.8, binary ? [] : [6, 4]);
        if (!binary || table.features.length > 2 || !(plane.norm > 0)) return;
        if (look.margin > 0) {
          for (const side of [-1, 1]) {
            const [a, b, c] = plane.line, edge = across([a, b, c + side * look.margin * plane.norm], frame);
            if (edge) pen.line(edge.map(pixels), ink, 1.3, [5, 5]);
          }
        }
        panel.sum = shown?.step && showsSum(state.learners[panel.place]) && sumOfArrows(pen, size, shown);
        if (!panel.sum) normal(pen, size, plane.line, ends, ink);
      });
    }
  }
  if (proof?.studies?.length === 1 && proof.studies[0].contradiction) {
    for (const { row } of proof.studies[0].contradiction.slice(0, 200)) pen.points([pixels(at(row - 1))], 3, radius + 7, null, css('--proof'), 2);
  }
  if (shown) {
    const [x, y] = pixels(at(shown.row));
    pen.ring(x, y, radius + 6, ink, 2.5);
    pen.ring(x, y, radius + 10, ink, 1, [3, 3]);
  }
  if (desk.cross && document.activeElement === panel.canvas) {
    const [x, y] = pixels(desk.cross);
    pen.line([[x - 12, y], [x + 12, y]], css('--accent'), 2);
    pen.line([[x, y - 12], [x, y + 12]], css('--accent'), 2);
  }
  if (!places.length) pen.text(table?.unread ? 'No rows were read' : 'Click to add a point', w / 2, h / 2, css('--soft'), 18, 'middle');
}

function arrow(pen, [x, y], [tx, ty], ink, width, name = '', dash = []) {
  const long = Math.hypot(tx - x, ty - y);
  if (!(long > 1)) return;
  const [ux, uy] = [(tx - x) / long, (ty - y) / long], head = Math.min(12, long / 2);
  pen.line([[x, y], [tx - ux * head * 0.7, ty - uy * head * 0.7]], ink, width, dash);
  pen.area([[tx, ty], [tx - ux * head - uy * head / 2, ty - uy * head + ux * head / 2], [tx - ux * head + uy * head / 2, ty - uy * head - ux * head / 2]], ink);
  if (name) pen.text(name, tx + ux * 12 - 4, ty + uy * 12 + 4, ink, 15);
}

/** The weight vector, from the boundary on, as long as fits. */
function normal(pen, size, [a, b, c], ends, ink) {
  const { frame } = desk;
  const [dx, dy] = [a * size[0] / (frame[1] - frame[0]), -b * size[1] / (frame[3] - frame[2])];
  const norm2 = a * a + b * b;
  let foot = [-a * c / norm2, -b * c / norm2];
  const inside = foot[0] > frame[0] && foot[0] < frame[1] && foot[1] > frame[2] && foot[1] < frame[3];
  if (!inside && ends) foot = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
  if (!inside && !ends) return;
  const [x, y] = toPixels(size, ...foot);
  // As long as it is, where that can be seen; else as long as can be seen.
  const real = Math.hypot(dx, dy), long = Math.max(26, Math.min(real, 0.3 * Math.min(...size)));
  arrow(pen, [x, y], [x + dx / real * long, y + dy / real * long], ink, 2.6, 'w');
}

/** An update as a sum from the origin: the weights before, the example on its side, the weights after. */
function sumOfArrows(pen, size, round) {
  const { frame, table } = desk, [first, second] = table.slice?.columns ?? [0, 1];
  if (!round.before || !(frame[0] < 0 && frame[1] > 0 && frame[2] < 0 && frame[3] > 0)) return false;
  const on = (list) => [list[first], list[second]];
  const { amount, keep } = round.step;
  const before = on(round.before[0]).map((weight) => keep * weight), after = on(round.w);
  const fits = ([a, b]) => Math.min(a > 0 ? frame[1] / a : a < 0 ? frame[0] / a : Infinity, b > 0 ? frame[3] / b : b < 0 ? frame[2] / b : Infinity);
  const by = Math.min(1, 0.94 * fits(before), 0.94 * fits(after));
  const place = ([a, b]) => toPixels(size, a * by, b * by);
  const origin = toPixels(size, 0, 0), sign = amount < 0 ? '−' : '+', scale = Math.abs(amount) === 1 ? '' : `${number(Math.abs(amount))} `;
  arrow(pen, origin, place(before), css('--soft'), 2.2, 'w', [4, 3]);
  arrow(pen, place(before), place(after), colourOf(round.class), 2.6);
  const middle = place([(before[0] + after[0]) / 2, (before[1] + after[1]) / 2]);
  pen.text(`${sign}${scale}x`, middle[0] + 6, middle[1] - 6, css('--ink'), 15);
  arrow(pen, origin, place(after), css('--ink'), 3, 'w′');
  return { klass: round.class };
}

export function drawPanel(panel) {
  if (!desk.engine) return;
  const [w, h, scale] = sized(panel.canvas);
  CanvasPen.letters = letters();
  const context = panel.canvas.getContext('2d');
  const { view } = seen(panel);
  // Where rows move with the weights, nothing stays.
  if (view || !panel.base || panel.base.width !== panel.canvas.width || panel.base.height !== panel.canvas.height) {
    panel.base = document.createElement('canvas');
    panel.base.width = panel.canvas.width; panel.base.height = panel.canvas.height;
    const under = panel.base.getContext('2d');
    under.setTransform(scale, 0, 0, scale, 0, 0);
    drawBase(new CanvasPen(under), [w, h], panel);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = css('--sheet');
  context.fillRect(0, 0, panel.canvas.width, panel.canvas.height);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const pen = new CanvasPen(context);
  drawHeat(pen, [w, h], panel);
  context.drawImage(panel.base, 0, 0, w, h);
  drawLive(pen, [w, h], panel);
}
function drawHeat(pen, size, panel) {
  if (!panel.heat || !panel.look || panel.look.view) return;
  const [left, right, bottom, top] = panel.heat.frame;
  const [x, y] = toPixels(size, left, top), [x2, y2] = toPixels(size, right, bottom);
  pen.image(panel.heat, x, y, x2 - x, y2 - y);
}
export function draw() { for (const panel of desk.panels) drawPanel(panel); }

export function curves() {
  const canvas = $('curves'), [w, h, scale] = sized(canvas);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, w, h);
  CanvasPen.letters = letters();
  const pen = new CanvasPen(context), { panels } = desk, big = CanvasPen.letters;
  const most = Math.max(1, ...panels.flatMap((panel) => panel.history.map((point) => point.round)));
  const high = Math.max(0.1, ...panels.flatMap((panel) => panel.history.flatMap((point) => [point.train ?? 0, point.test ?? 0])));
  const ink = css('--soft'), box = [50 * big, 8 * big, w - 8, h - 20 * big];
  const at = (round, share) => [box[0] + round / most * (box[2] - box[0]), box[3] - share / high * (box[3] - box[1])];
  for (const share of [0, high / 2, high]) {
    pen.line([at(0, share), at(most, share)], css('--line'), 0.7);
    pen.text(percent(share), box[0] - 4, at(0, share)[1] + 4, ink, 12, 'end');
  }
  pen.text(`round ${count(most)}`, box[2], h - 5, ink, 12, 'end');
  panels.forEach((panel, place) => {
    const sorted = [...panel.history].sort((a, b) => a.round - b.round);
    for (const part of ['train', 'test']) {
      const { stroke, dash } = lineOf(place, part === 'test');
      const points = sorted.filter((point) => point[part] !== null && point[part] !== undefined).map((point) => at(point.round, point[part]));
      if (points.length > 1) pen.line(points, stroke, part === 'test' ? 1.6 : 2, dash);
      else pen.points(points, 0, 3, stroke, null, 0);
    }
  });
}

/** The row under a pointer, or -1. */
export function nearest(panel, x, y, reach = 16) {
  const size = sizeOf(panel.canvas), { frame, at } = seen(panel);
  let found = -1, best = reach * reach;
  for (let row = 0; row < desk.places.length / 3; row += 1) {
    const [px, py] = toPixels(size, ...at(row), frame);
    const d = (px - x) ** 2 + (py - y) ** 2;
    if (d < best) [found, best] = [row, d];
  }
  return found;
}

/** What is known of a row, in words. */
export function wordsOf(row, panel) {
  const { table, places, classes } = desk, x = featuresOf(row);
  const predicted = panel.look?.classes[row];
  return [`row ${count(row + 1)}: ${classes[places[3 * row + 2]]}${desk.isTest[row] ? ' (held out)' : ''}`,
    ...(predicted === undefined ? [] : [predicted === places[3 * row + 2] ? 'classified correctly' : `predicted ${table.classes[predicted]}`]),
    ...(x ?? []).map((value, i) => `${table.features[i]} ${number(value)}${state.scaled ? ' (standardized)' : ''}`)];
}
function showTip(event, panel) {
  const row = event.buttons ? -1 : nearest(panel, event.offsetX, event.offsetY, 12);
  panel.tip.hidden = row < 0;
  if (row < 0) return;
  panel.tip.replaceChildren(...wordsOf(row, panel).map((textContent) => el('div', { textContent })));
  const [w] = sizeOf(panel.canvas), left = event.offsetX > w / 2;
  panel.tip.style.left = left ? 'auto' : `${event.offsetX + 14}px`;
  panel.tip.style.right = left ? `${w - event.offsetX + 14}px` : 'auto';
  panel.tip.style.top = `${event.offsetY + 10}px`;
}

/** All panels as an SVG. */
export function picture() {
  const { panels, learners } = desk, two = panels.length > 1 ? 2 : 1, [w, h] = [640, Math.round(640 / shapeOf(panels[0].canvas))];
  CanvasPen.letters = 1;
  const pen = new SvgPen(two * (w + 10), Math.ceil(panels.length / two) * (h + 40), css('--sheet'));
  panels.forEach((panel, place) => {
    pen.offset = [(place % two) * (w + 10), Math.floor(place / two) * (h + 40) + 30];
    const mistakes = learners[place] ? mistakesOf(learners[place]) : counted(0, 'mistake');
    pen.text(`${titleOf(state.learners[place])}: ${mistakes}, error ${percent(panel.look?.errors[0])}`, 8, -10, css('--ink'), 16);
    drawHeat(pen, [w, h], panel);
    drawBase(pen, [w, h], panel);
    drawLive(pen, [w, h], panel);
  });
  return pen.end();
}
