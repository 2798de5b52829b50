/**
 * Runs the pipeline in a pool thread. The message comes back as text in pieces, which are read
 * with pauses between them, since reading tens of thousands of objects at once stalls the loop.
 */
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { builtRoot } from '../../shared/built-root.ts';
import { Piscina } from 'piscina';
import { type MessageObject, isMessageObject } from './convert/message-object.ts';
import { joinPieces } from './message-pieces.ts';
import type { ConfigSource, PipelineOptions, PipelineResult } from './pipeline.ts';
import type { PoolReply, PoolTask } from './pool-entry.ts';
import type { Problem } from './problem.ts';

/** A thread that has nothing to do ends after this time. */
const idleTimeoutMs = 1000;

let pool: Piscina<PoolTask, PoolReply> | undefined;

export async function runPipelineInPool(
  typeName: string,
  sources: readonly ConfigSource[],
  options: PipelineOptions,
): Promise<PipelineResult> {
  const reply = await runTask({ kind: 'load', typeName, sources, options });
  if (reply.kind !== 'loaded') {
    throw new Error(`cannot load ${typeName} in a pool thread: it answered ${reply.kind}`);
  }
  const message = await joinPieces(reply.pieces, async () => {
    await pause();
  });
  return {
    message: isMessageObject(message) ? message : ({} satisfies MessageObject),
    problems: reply.problems,
    unknownFieldCount: reply.unknownFieldCount,
    featureUses: reply.featureUses,
  };
}

export async function locateInPool(
  sources: readonly ConfigSource[],
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  const reply = await runTask({ kind: 'locate', sources, problems });
  return reply.kind === 'located' ? reply.problems : problems;
}

/** The pool lives as long as the process; its threads do not. */
async function runTask(task: PoolTask): Promise<PoolReply> {
  pool ??= new Piscina<PoolTask, PoolReply>({
    filename: join(builtRoot, 'supervisor', 'config', 'pool-entry.js'),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleTimeoutMs,
  });
  return pool.run(task);
}
