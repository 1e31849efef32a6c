// Pictures: one list of strokes, drawn on a canvas or written as SVG.

import { grouped } from './desk.js';

// The colours of the command line's pictures, after Okabe and Ito's, which people who see fewer colours tell apart, too;
// shapes say the same again.
const COLOURS = {
  light: '#0072b2 #d55e00 #008560 #b2508e #ad7700 #2f8fc9 #8000ff #7a6400 #00a500 #593380 #8c1529 #0024d9 #ff26db #b266ff #ff266f #324c48 #99007f #bf00e6 #5757d9 #7700b2 #bf7c93 #cc1f3c #734b4b #7f6ca6'.split(' '),
  dark: '#56aae9 #f08232 #32be91 #dd91be #e6aa28 #8ccdf5 #8844ff #f0e45a #008700 #73672e #d90091 #006ea6 #00ffaa #e60000 #a6ffff #937cbf #99993d #b266ff #a6756c #99e600 #a8cc85 #00806a #7c5b8c #ff66e5'.split(' '),
};
const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'cross', 'plus', 'wedge', 'star'];
/** This many classes have a colour of their own; beyond them a colour comes again with another shape. */
export const MOST_COLOURS = COLOURS.light.length;

export const colourOf = (klass) => COLOURS[document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'][klass % MOST_COLOURS];
export const shapeOf = (klass) => SHAPES[(klass + Math.floor(klass / SHAPES.length)) % SHAPES.length];

const PLUS = [[-.35, -1.1], [.35, -1.1], [.35, -.35], [1.1, -.35], [1.1, .35], [.35, .35], [.35, 1.1], [-.35, 1.1], [-.35, .35], [-1.1, .35], [-1.1, -.35], [-.35, -.35]];
/** A shape around a place, as a list of corners; nothing for a circle. */
function corners(klass, x, y, r) {
  const at = (list) => list.map(([a, b]) => [x + a * r, y + b * r]);
  const turned = (list) => at(list.map(([a, b]) => [(a - b) * Math.SQRT1_2, (a + b) * Math.SQRT1_2]));
  switch (shapeOf(klass)) {
    case 'square': return at([[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]]);
    case 'triangle': return at([[0, -1.15], [1.05, .75], [-1.05, .75]]);
    case 'diamond': return at([[0, -1.25], [1.1, 0], [0, 1.25], [-1.1, 0]]);
    case 'cross': return turned(PLUS);
    case 'plus': return at(PLUS);
    case 'wedge': return at([[0, 1.15], [1.05, -.75], [-1.05, -.75]]);
    case 'star': return at(Array.from({ length: 10 }, (_, i) => {
      const [turn, far] = [Math.PI * i / 5 - Math.PI / 2, i % 2 ? .55 : 1.3];
      return [Math.cos(turn) * far, Math.sin(turn) * far];
    }));
    default: return null;
  }
}

/** Draws on a canvas. */
export class CanvasPen {
  /** How much larger letters are than given: what hangs on a wall is read from afar. */
  static letters = 1;
  constructor(context) { this.c = context; }
  points(list, klass, r, fill, stroke, width, alpha = 1) {
    const c = this.c;
    c.beginPath();
    for (const [x, y] of list) {
      if (r < 2) { c.rect(x - r, y - r, 2 * r, 2 * r); continue; }
      const path = corners(klass, x, y, r);
      if (!path) { c.moveTo(x + r, y); c.arc(x, y, r, 0, 7); continue; }
      c.moveTo(...path[0]);
      for (const corner of path.slice(1)) c.lineTo(...corner);
      c.closePath();
    }
    c.globalAlpha = alpha;
    if (fill) { c.fillStyle = fill; c.fill(); }
    if (stroke && width) { c.strokeStyle = stroke; c.lineWidth = width; c.stroke(); }
    c.globalAlpha = 1;
  }
  ring(x, y, r, stroke, width, dash = []) {
    const c = this.c;
    c.beginPath(); c.arc(x, y, r, 0, 7); c.strokeStyle = stroke; c.lineWidth = width; c.setLineDash(dash); c.stroke(); c.setLineDash([]);
  }
  rings(list, r, stroke, width) {
    const c = this.c;
    c.beginPath();
    for (const [x, y] of list) { c.moveTo(x + r, y); c.arc(x, y, r, 0, 7); }
    c.strokeStyle = stroke; c.lineWidth = width; c.stroke();
  }
  line(points, stroke, width, dash = []) {
    const c = this.c;
    c.beginPath();
    points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.strokeStyle = stroke; c.lineWidth = width; c.setLineDash(dash); c.lineJoin = 'round'; c.stroke(); c.setLineDash([]);
  }
  /** Pieces of a line, each with its two ends. */
  pieces(list, stroke, width) {
    const c = this.c;
    c.beginPath();
    for (const [from, to] of list) { c.moveTo(...from); c.lineTo(...to); }
    c.strokeStyle = stroke; c.lineWidth = width; c.lineCap = 'round'; c.stroke(); c.lineCap = 'butt';
  }
  area(points, fill, alpha = 1) {
    const c = this.c;
    c.globalAlpha = alpha;
    c.beginPath();
    points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath(); c.fillStyle = fill; c.fill(); c.globalAlpha = 1;
  }
  text(words, x, y, fill, size, anchor = 'start') {
    const c = this.c;
    c.fillStyle = fill; c.font = `${size * CanvasPen.letters}px system-ui, "Liberation Sans", sans-serif`;
    c.textAlign = anchor === 'middle' ? 'center' : anchor; c.fillText(words, x, y);
  }
  image(canvas, x, y, w, h) { this.c.imageSmoothingEnabled = true; this.c.drawImage(canvas, x, y, w, h); }
}

/** A mark as it stands on the pictures, for a legend. */
export function swatch({ klass, fill, edge, stroke, ring, second, line, dash }) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  for (const [name, value] of Object.entries({ viewBox: '0 0 24 16', 'aria-hidden': 'true' })) svg.setAttribute(name, value);
  const add = (tag, attributes) => {
    const part = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries({ fill: 'none', ...attributes })) part.setAttribute(name, value);
    svg.append(part);
  };
  if (line) add('path', { d: 'M1 8H23', stroke: line, 'stroke-width': 2.4, 'stroke-dasharray': dash ?? '' });
  if (ring) add('circle', { cx: 12, cy: 8, r: 5, stroke: ring, 'stroke-width': 2 });
  if (second) add('circle', { cx: 12, cy: 8, r: 7.4, stroke: ring, 'stroke-width': 1, 'stroke-dasharray': '2 2' });
  if (klass !== undefined) {
    const path = corners(klass, 12, 8, 5.4), look = { fill: fill ?? 'none', stroke: stroke ?? edge, 'stroke-width': stroke ? 1.8 : 1 };
    if (path) add('path', { d: `M${path.map((corner) => corner.join(' ')).join('L')}Z`, ...look });
    else add('circle', { cx: 12, cy: 8, r: 5.4, ...look });
  }
  return svg;
}

const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
const short = (value) => +value.toFixed(2);

/** Writes SVG. */
export class SvgPen {
  constructor(width, height, paper) {
    this.parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`,
      `<rect width="100%" height="100%" fill="${paper}"/>`];
    this.offset = [0, 0];
  }
  path(d, attributes) { this.parts.push(`<path d="${d}" ${attributes}/>`); }
  at([x, y]) { return `${short(x + this.offset[0])} ${short(y + this.offset[1])}`; }
  points(list, klass, r, fill, stroke, width, alpha = 1) {
    const d = list.map(([x, y]) => {
      const path = corners(klass, x, y, r);
      if (path) return `M${path.map((corner) => this.at(corner)).join('L')}Z`;
      return `M${this.at([x - r, y])}a${short(r)} ${short(r)} 0 1 0 ${short(2 * r)} 0a${short(r)} ${short(r)} 0 1 0 ${short(-2 * r)} 0Z`;
    }).join('');
    if (d) this.path(d, `fill="${fill || 'none'}" stroke="${stroke || 'none'}" stroke-width="${width}" opacity="${alpha}"`);
  }
  ring(x, y, r, stroke, width, dash = []) { this.parts.push(`<circle cx="${short(x + this.offset[0])}" cy="${short(y + this.offset[1])}" r="${r}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-dasharray="${dash.join(' ')}"/>`); }
  rings(list, r, stroke, width) { for (const [x, y] of list) this.ring(x, y, r, stroke, width); }
  line(points, stroke, width, dash = []) { this.path(`M${points.map((point) => this.at(point)).join('L')}`, `fill="none" stroke="${stroke}" stroke-width="${width}" stroke-dasharray="${dash.join(' ')}"`); }
  pieces(list, stroke, width) { if (list.length) this.path(list.map(([from, to]) => `M${this.at(from)}L${this.at(to)}`).join(''), `fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linecap="round"`); }
  area(points, fill, alpha = 1) { this.path(`M${points.map((point) => this.at(point)).join('L')}Z`, `fill="${fill}" opacity="${alpha}"`); }
  text(words, x, y, fill, size, anchor = 'start') { this.parts.push(`<text x="${short(x + this.offset[0])}" y="${short(y + this.offset[1])}" fill="${fill}" font-size="${size}" text-anchor="${anchor}">${escaped(words)}</text>`); }
  image(canvas, x, y, w, h) { this.parts.push(`<image x="${x + this.offset[0]}" y="${y + this.offset[1]}" width="${w}" height="${h}" preserveAspectRatio="none" href="${canvas.toDataURL('image/png')}"/>`); }
  end() { return `${this.parts.join('\n')}\n</svg>\n`; }
}

/** A round step for a number of marks over a span. */
export function tick(span, marks) {
  const raw = span / marks, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((by) => by * power).find((step) => step >= raw);
}

/** A number in few letters. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toExponential(2).replace('-', '−');
  return String(+value.toFixed(Math.abs(value) < 10 ? 3 : 2)).replace('-', '−');
}

/** The same with its thousands apart, where it stands alone. */
export const figure = (value) => number(value).replace(/\d{4,}(?=\.|$)/, (digits, at, all) => (all.slice(0, at).includes('.') ? digits : grouped(digits)));

/** Where the class changes on a grid of classes and of how far each is ahead: pieces of lines, in shares of the picture. */
export function borders(values, cells) {
  const found = [], at = (i) => (i % cells + 0.5) / cells, up = (i) => (Math.floor(i / cells) + 0.5) / cells;
  const crossing = (i, j) => {
    const [near, far] = [Math.abs(values[2 * i + 1]), Math.abs(values[2 * j + 1])], share = near + far > 0 ? near / (near + far) : 0.5;
    const by = Number.isFinite(share) ? share : 0.5;
    return [at(i) + by * (at(j) - at(i)), up(i) + by * (up(j) - up(i))];
  };
  for (let row = 0; row + 1 < cells; row += 1) {
    for (let column = 0; column + 1 < cells; column += 1) {
      const first = row * cells + column, corners = [first, first + 1, first + cells + 1, first + cells], cut = [];
      for (let side = 0; side < 4; side += 1) {
        const [i, j] = [corners[side], corners[(side + 1) % 4]];
        if (values[2 * i] !== values[2 * j]) cut.push(crossing(i, j));
      }
      if (cut.length === 2) found.push(cut);
      else if (cut.length > 2) {
        const middle = [0, 1].map((axis) => cut.reduce((sum, place) => sum + place[axis], 0) / cut.length);
        for (const place of cut) found.push([place, middle]);
      }
    }
  }
  return found;
}

/** Between which places of a frame the line a x + b y + c = 0 goes. */
export function across([a, b, c], [left, right, bottom, top]) {
  const found = [];
  const add = (x, y) => {
    const slack = 1e-9 * (right - left + top - bottom);
    if (x >= left - slack && x <= right + slack && y >= bottom - slack && y <= top + slack) found.push([x, y]);
  };
  if (b !== 0) { add(left, -(a * left + c) / b); add(right, -(a * right + c) / b); }
  if (a !== 0) { add(-(b * bottom + c) / a, bottom); add(-(b * top + c) / a, top); }
  let best = null, far = 0;
  for (const p of found) for (const q of found) {
    const d = (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2;
    if (d > far) [best, far] = [[p, q], d];
  }
  return best;
}
