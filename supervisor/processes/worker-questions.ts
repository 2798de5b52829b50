/** What a worker is asked about itself, and what it answers. */
import type {
  CloseOrder,
  ConnectionPart,
  ConnectionQuestion,
} from '../../shared/connections/connections.ts';
import type { AskedRequest, Explanation } from '../../shared/explain/explanation.ts';
import type { Exemplar } from '../../shared/messages/exemplars.ts';
import type { Refusals } from '../../shared/messages/refusals.ts';
import type { ProfileCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { ScriptAnswer, ScriptStep } from '../../shared/messages/script-messages.ts';
import { unexpected, type WorkerHost } from './worker-host.ts';

/** Profiles take some time to write. */
const PROFILE_LIMIT_MS = 30_000;

type AskedWorker = Pick<WorkerHost, 'call'>;

export async function countConnections(
  worker: AskedWorker,
  limitMs: number,
): Promise<readonly ListenerConnections[]> {
  const reply = await worker.call((id) => ({ kind: 'count_connections', id }), limitMs);
  return reply.kind === 'connections' ? reply.listeners : [];
}

/** Rejects with what went wrong in the worker. */
export async function explain(
  worker: AskedWorker,
  asked: AskedRequest,
  limitMs: number,
): Promise<Explanation> {
  const reply = await worker.call((id) => ({ kind: 'explain', id, asked }), limitMs);
  if (reply.kind !== 'explained') throw new Error(unexpected(reply));
  if (reply.explanation === undefined) throw new Error(reply.error ?? 'nothing is explained');
  return reply.explanation;
}

/** The last requests that it refused. */
export async function recallRefusals(worker: AskedWorker, limitMs: number): Promise<Refusals> {
  const reply = await worker.call((id) => ({ kind: 'recall_refusals', id }), limitMs);
  return reply.kind === 'refusals' ? reply.refusals : {};
}

/** Its latest sampled requests. */
export async function recallExemplars(
  worker: AskedWorker,
  limitMs: number,
): Promise<readonly Exemplar[]> {
  const reply = await worker.call((id) => ({ kind: 'recall_exemplars', id }), limitMs);
  return reply.kind === 'exemplars' ? reply.exemplars : [];
}

/** The first rows of a list, or with a number the further ones of one; rejects without an answer. */
export async function listConnections(
  worker: AskedWorker,
  asked: ConnectionQuestion | number,
  limitMs: number,
): Promise<ConnectionPart> {
  const reply = await worker.call(
    (id) =>
      typeof asked === 'number'
        ? { kind: 'list_further_connections', id, walk: asked }
        : { kind: 'list_connections', id, question: asked },
    limitMs,
  );
  if (reply.kind !== 'listed_connections') throw new Error(unexpected(reply));
  if (reply.part === undefined) throw new Error(reply.error ?? 'nothing is listed');
  return reply.part;
}

/** Resolves with how many were chosen. */
export async function closeConnections(
  worker: AskedWorker,
  order: CloseOrder,
  limitMs: number,
): Promise<number> {
  const reply = await worker.call((id) => ({ kind: 'close_connections', id, order }), limitMs);
  if (reply.kind !== 'closing_connections') throw new Error(unexpected(reply));
  if (reply.count === undefined) throw new Error(reply.error ?? 'nothing is closed');
  return reply.count;
}

/** Resolves with why there is no profile; the profile itself is in the file at `path`. */
export async function profile(
  worker: AskedWorker,
  command: ProfileCommand,
  path: string,
): Promise<string | undefined> {
  const reply = await worker.call(
    (id) => ({ kind: 'profile', id, command, path }),
    PROFILE_LIMIT_MS,
  );
  return reply.kind === 'profiled' ? reply.error : unexpected(reply);
}

/** One worker, to be asked about modules. */
export interface AskedAboutScripts {
  readonly index: number;
  step(step: ScriptStep, limitMs: number): Promise<ScriptAnswer>;
}

export async function stepOfScripts(
  worker: AskedWorker,
  step: ScriptStep,
  limitMs: number,
): Promise<ScriptAnswer> {
  const reply = await worker.call((id) => ({ kind: 'scripts', id, ...step }), limitMs);
  return reply.kind === 'scripts' ? reply : { error: unexpected(reply) };
}
