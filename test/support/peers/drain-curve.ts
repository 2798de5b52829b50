/** How many responses of each second of a drain told their client to close the connection. */
import { fetchOnce } from './http-client.ts';
import { startLoad, type LoadTarget } from './load.ts';

export interface DrainCurve {
  /** Per second since the drain began, of responses that cannot belong to another one. */
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
  let commandedMs = 0;
  let startedMs = Number.POSITIVE_INFINITY;
  // The drain began between the command and its answer, the response was made since it was asked
  // for.
  const answered = (closes: boolean, askedMs: number): void => {
    answers += 1;
    const earliest = Math.floor((askedMs - startedMs) / 1000);
    const latest = Math.floor((performance.now() - commandedMs) / 1000);
    const count = counts[earliest];
    if (count === undefined || earliest !== latest) return;
    count.answers += 1;
    if (closes) count.closing += 1;
  };
  const load = startLoad({ ...server.target, answered });
  commandedMs = performance.now();
  await fetchOnce({
    port: server.adminPort,
    path: '/drain_listeners?graceful',
    method: 'POST',
  });
  startedMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { failures } = await load.stop();
  return { seconds: counts, answers, failures };
}
