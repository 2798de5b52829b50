/**
 * A client of a constant rate, in a process of its own: requests are due at fixed moments whether
 * or not earlier ones were answered, and each latency counts from the moment its request was due,
 * so that a stall is charged to every request that it held up. Arguments: port, requests per
 * second, seconds. Prints one line of JSON, `OpenLoopResult`. The upstream's answer must end in
 * `world` and a line end.
 */
import { connect, type Socket } from 'node:net';

export interface OpenLoopResult {
  readonly sent: number;
  readonly failed: number;
  /** The latencies of the requests that were due in the time, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

const CONNECTIONS = 64;
const TICK_MS = 1;
/**
 * Requests that are due and have no free connection; more than that and the rate is not reached.
 */
const MAX_WAITING = 1 << 17;
/** Answers are waited for so long after the last request was due. */
const PATIENCE_MS = 3000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: bench\r\n\r\n';
/** Latencies in microseconds, one slot each; the last holds all that are longer. */
const LONGEST_MICROSECONDS = 4_000_000;

interface Line {
  readonly socket: Socket;
  /** When the request in flight was due. */
  dueMs: number;
}

const [port = 0, rate = 0, seconds = 0] = process.argv.slice(2).map(Number);
const latencies = new Uint32Array(LONGEST_MICROSECONDS + 1);
const idle: Line[] = [];
const waiting = new Float64Array(MAX_WAITING);
let waitingFrom = 0;
let waitingTo = 0;
let sent = 0;
let answered = 0;
let failed = 0;

for (let count = 0; count < CONNECTIONS; count++) idle.push(await openLine());
const total = Math.floor(rate * seconds);
const startMs = performance.now();
await new Promise<void>((resolve) => {
  const tick = setInterval(() => {
    const now = performance.now();
    const due = Math.min(total, Math.floor(((now - startMs) * rate) / 1000));
    for (; sent < due; sent++) ask(startMs + (sent * 1000) / rate);
    const isOver = now - startMs > seconds * 1000 + PATIENCE_MS;
    if (sent < total || (answered + failed < total && !isOver)) return;
    clearInterval(tick);
    resolve();
  }, TICK_MS);
});
const result: OpenLoopResult = {
  sent,
  failed: total - answered,
  p50Ms: quantile(0.5),
  p99Ms: quantile(0.99),
  p999Ms: quantile(0.999),
  maxMs: quantile(1),
};
console.log(JSON.stringify(result));
process.exit(0);

function ask(dueMs: number): void {
  const line = idle.pop();
  if (line !== undefined) send(line, dueMs);
  else if (waitingTo - waitingFrom < MAX_WAITING) waiting[waitingTo++ % MAX_WAITING] = dueMs;
  else failed++;
}

function send(line: Line, dueMs: number): void {
  line.dueMs = dueMs;
  line.socket.write(REQUEST, 'latin1');
}

function onAnswer(line: Line): void {
  const microseconds = Math.round((performance.now() - line.dueMs) * 1000);
  const slot = Math.min(LONGEST_MICROSECONDS, Math.max(0, microseconds));
  latencies[slot] = (latencies[slot] ?? 0) + 1;
  answered++;
  if (waitingFrom < waitingTo) send(line, waiting[waitingFrom++ % MAX_WAITING] ?? 0);
  else idle.push(line);
}

function openLine(): Promise<Line> {
  return new Promise((resolve, reject) => {
    const onData = (length: number, bytes: Uint8Array): boolean => {
      // 0x64 0x0a: the last two bytes of the body.
      if (bytes[length - 1] === 0x0a && bytes[length - 2] === 0x64) onAnswer(line);
      return true;
    };
    const onread = { buffer: Buffer.alloc(16 * 1024), callback: onData };
    const line: Line = { socket: connect({ host: '127.0.0.1', port, onread }), dueMs: 0 };
    line.socket.setNoDelay(true);
    line.socket.once('connect', () => resolve(line));
    line.socket.once('error', reject);
  });
}

function quantile(share: number): number {
  const wanted = Math.ceil(answered * share);
  let seen = 0;
  for (let slot = 0; slot <= LONGEST_MICROSECONDS; slot++) {
    seen += latencies[slot] ?? 0;
    if (seen >= wanted && seen > 0) return slot / 1000;
  }
  return 0;
}
