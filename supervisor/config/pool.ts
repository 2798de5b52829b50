/**
 * Runs the pipeline in pool threads, one for the start and one for what comes later. The message
 * comes back as text in pieces, which are read with pauses between them, since reading tens of
 * thousands of objects at once stalls the loop.
 */
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { builtRoot } from '../../shared/process/built-root.ts';
import type { Piscina } from 'piscina';
import { type MessageObject, isMessageObject } from './convert/message-object.ts';
import { joinPieces, KnownSlices } from './message-pieces.ts';
import type { PipelineResult } from './pipeline.ts';
import type { ConfigSource, PipelineOptions } from './read-source.ts';
import type { PoolReply, PoolTask } from './pool-entry.ts';
import type { Problem } from './problem.ts';
import { openThreadPool } from '../../shared/process/thread-pool.ts';

/**
 * A thread that has nothing to do ends after this time. One that reads answers of control planes
 * stays for the next of them, which it reads in half the time with code that is compiled.
 */
const idleTimeoutMs = { start: 1000, updates: 30_000 };

/**
 * Lists that control planes send again and again with few changes: in memory some 30 MiB at most.
 */
const knownCharacters = 8 * 1024 * 1024;

const known = new KnownSlices(knownCharacters);

const pools: Partial<Record<keyof typeof idleTimeoutMs, Piscina<PoolTask, PoolReply>>> = {};

export async function runPipelineInPool(
  typeName: string,
  sources: readonly ConfigSource[],
  { besideTraffic, ...options }: PipelineOptions & { readonly besideTraffic: boolean },
): Promise<PipelineResult> {
  const reply = await runTask({ kind: 'load', typeName, sources, options, besideTraffic });
  if (reply.kind !== 'loaded') {
    throw new Error(`cannot load ${typeName} in a pool thread: it answered ${reply.kind}`);
  }
  const message = await joinPieces(reply.pieces, async () => await pause(), known);
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

/** A pool lives as long as the process; its threads do not. */
async function runTask(task: PoolTask): Promise<PoolReply> {
  const of = task.kind === 'load' && task.besideTraffic ? 'updates' : 'start';
  const pool = (pools[of] ??= openThreadPool<PoolTask, PoolReply>({
    filename: join(builtRoot, 'supervisor', 'config', 'pool-entry.cjs'),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleTimeoutMs[of],
  }));
  return pool.run(task);
}
