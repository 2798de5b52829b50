/** A TCP or unix socket client that sends bytes as given and keeps what comes back. */
import { connect, type Socket } from 'node:net';
import { WAIT_LIMIT_MS, within } from '../wait.ts';

/** What has to be there: a text, a match, or whatever a function says of everything received. */
type Pattern = RegExp | string | ((text: string) => boolean);

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far, as latin1. */
  received(): string;
  send(bytes: string | Buffer): void;
  /** Half-closes: the other side reads the end, answers still arrive. */
  end(): void;
  /** Resolves with everything received as soon as it matches. */
  until(pattern: Pattern, limitMs?: number): Promise<string>;
  /** Resolves with everything received when the other side has ended or reset the connection. */
  closed(limitMs?: number): Promise<string>;
  destroy(): void;
}

export async function openRaw(target: number | string, host = '127.0.0.1'): Promise<RawConnection> {
  const socket = typeof target === 'number' ? connect(target, host) : connect({ path: target });
  let text = '';
  let isClosed = false;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const markClosed = (): void => {
    isClosed = true;
    notify();
  };
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    notify();
  });
  socket.on('end', markClosed);
  socket.on('close', markClosed);
  const condition = (what: string, holds: () => boolean, limitMs: number): Promise<string> =>
    within(
      what,
      new Promise<string>((resolve, reject) => {
        const check = (): void => {
          const isMet = holds();
          if (!isMet && !isClosed) return;
          listeners.delete(check);
          if (isMet) resolve(text);
          // Nothing follows the end; who waits for that as well hears of it first.
          else setImmediate(() => reject(new Error(`the connection was closed before: ${what}`)));
        };
        listeners.add(check);
        check();
      }),
      limitMs,
    ).catch((error: unknown) => {
      const seen = JSON.stringify(text.slice(0, 400));
      throw new Error(`${String(error)}; received so far: ${seen}`, { cause: error });
    });
  await within(
    'connection',
    new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    }),
  );
  socket.on('error', markClosed);
  return {
    socket,
    received: () => text,
    send: (bytes) =>
      void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    end: () => void socket.end(),
    until: (pattern, limitMs = WAIT_LIMIT_MS) =>
      condition(String(pattern), () => matches(pattern, text), limitMs),
    closed: (limitMs = WAIT_LIMIT_MS) =>
      condition('end of the connection', () => isClosed, limitMs),
    destroy: () => void socket.destroy(),
  };
}

function matches(pattern: Pattern, text: string): boolean {
  if (typeof pattern === 'function') return pattern(text);
  return typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);
}
