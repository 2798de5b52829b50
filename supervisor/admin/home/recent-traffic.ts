/**
 * The last two minutes of the home page: charts that need no script, and a line on what was
 * refused.
 */
import type { Refusals, RefusedRequest } from '../../../shared/messages/refusals.ts';
import type { AdminContext } from '../admin-context.ts';
import { escapeHtml } from './escape-html.ts';
import { daysOrClock } from './time-spans.ts';

type Interval = ReturnType<AdminContext['recent']['intervals']>[number];

const WIDTH = 240;
const HEIGHT = 56;
/** Intervals that a chart has room for. */
const SLOTS = 24;

export function renderTraffic(
  intervals: readonly Interval[],
  refusals: readonly Refusals[],
  nowMs: number,
): string {
  const rate =
    (read: (interval: Interval) => number) =>
    (interval: Interval): number =>
      read(interval) / Math.max(0.001, interval.seconds);
  const charts = [
    chart('Requests', '/s', intervals.map(rate(({ requests }) => requests))),
    chart('4xx', '/s', intervals.map(rate(({ clientErrors }) => clientErrors))),
    chart('5xx', '/s', intervals.map(rate(({ serverErrors }) => serverErrors))),
    chart(
      'Connections',
      '',
      intervals.map(({ connections }) => connections),
    ),
  ];
  return (
    `<section id="traffic"><h2>Traffic</h2><div class="charts">${charts.join('')}</div>\n` +
    `${renderRefusals(intervals, refusals, nowMs)}</section>\n`
  );
}

/** What there was no host to blame for. */
function renderRefusals(
  intervals: readonly Interval[],
  refusals: readonly Refusals[],
  nowMs: number,
): string {
  const sum = (read: (interval: Interval) => number): number =>
    intervals.reduce((total, interval) => total + read(interval), 0);
  const refused = sum(({ clientErrors }) => clientErrors);
  const unrouted = sum(({ unrouted: count }) => count);
  const clientError = latest(refusals.map((each) => each.clientError));
  const lost = latest(refusals.map((each) => each.unrouted));
  if (clientError === undefined && refused === 0 && unrouted === 0) return '';
  return (
    `<p id="refused">Last two minutes: <b>${refused}</b> answers of 4xx${told(clientError, nowMs)}; ` +
    `<b>${unrouted}</b> without a route${told(lost, nowMs)}</p>\n`
  );
}

function told(request: RefusedRequest | undefined, nowMs: number): string {
  if (request === undefined) return '';
  const { status, authority, path, atMs } = request;
  const ago = daysOrClock(Math.max(0, (nowMs - atMs) / 1000));
  const url = `http://${authority}${path}`;
  const explain = `explain?url=${encodeURIComponent(url)}`;
  return (
    `, the last ${status} <a class="explain" href="${escapeHtml(explain)}">` +
    `${escapeHtml(authority + path)}</a> ${ago} ago`
  );
}

function latest(requests: readonly (RefusedRequest | undefined)[]): RefusedRequest | undefined {
  let last: RefusedRequest | undefined;
  for (const request of requests) {
    if (request !== undefined && request.atMs >= (last?.atMs ?? 0)) last = request;
  }
  return last;
}

function chart(title: string, unit: string, values: readonly number[]): string {
  const most = Math.max(0, ...values);
  const top = Math.max(1e-9, most);
  const last = values.at(-1);
  const points = values.map((value, index) => {
    const x = WIDTH - ((values.length - 1 - index) * WIDTH) / (SLOTS - 1);
    return `${Math.round(x)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`;
  });
  const now = last === undefined ? 'from 10 s after the start' : short(last) + unit;
  const label = `${title}: ${now}`;
  return (
    `<div class="chart"><div>${label}</div>` +
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" ` +
    `aria-label="${label}, at most ${short(most)}${unit} in two minutes">` +
    `<polyline points="${points.join(' ')}"/></svg>` +
    `<small><span>2 min ago</span><span>max ${short(most)}${unit}</span></small></div>`
  );
}

function short(value: number): string {
  return String(Number(value.toFixed(1)));
}
