/** How many responses of each second of a drain told their client to close the connection. */
import { fetchOnce } from './http-client.ts';
import { startLoad, type LoadTarget } from './load.ts';

/** A response is counted in its second only when it cannot be one of the second before or after. */
const ON_THE_WAY_MS = 50;

export interface DrainCurve {
  /** Per second since the drain began, without the edges of the seconds. */
  readonly seconds: readonly { readonly answers: number; readonly closing: number }[];
  readonly answers: number;
  readonly failures: readonly string[];
}

export interface DrainedServer {
  readonly adminPort: number;
  readonly target: LoadTarget;
}

/** Begins a graceful drain of a server under load and watches its first seconds. */
export async function watchDrain(server: DrainedServer, seconds: number): Promise<DrainCurve> {
  const counts = Array.from({ length: seconds }, () => ({ answers: 0, closing: 0 }));
  let answers = 0;
  let startedMs = Number.POSITIVE_INFINITY;
  let uncertainMs = 0;
  const answered = (closes: boolean): void => {
    answers += 1;
    const elapsedMs = performance.now() - startedMs;
    const withinMs = elapsedMs % 1000;
    if (withinMs < ON_THE_WAY_MS || withinMs + uncertainMs > 1000 - ON_THE_WAY_MS) return;
    const count = counts[Math.floor(elapsedMs / 1000)];
    if (count === undefined) return;
    count.answers += 1;
    if (closes) count.closing += 1;
  };
  const load = startLoad({ ...server.target, answered });
  const askedMs = performance.now();
  await fetchOnce({
    port: server.adminPort,
    path: '/drain_listeners?graceful',
    method: 'POST',
  });
  startedMs = performance.now();
  uncertainMs = startedMs - askedMs;
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { failures } = await load.stop();
  return { seconds: counts, answers, failures };
}
