/** The pool thread's side of the pipeline. */
import { yieldToTraffic } from '../../shared/process/yield-to-traffic.ts';
import { ApiCatalog } from './api/api-catalog.ts';
import { hasHoles, isError } from './follow-up.ts';
import { type Pieces, splitMessage } from './message-pieces.ts';
import { type PipelineResult, locateInSources, runPipeline } from './pipeline.ts';
import type { ConfigSource, PipelineOptions } from './read-source.ts';
import type { Problem } from './problem.ts';

export type PoolTask =
  /** Asks for a message from sources; answered by `loaded`. */
  | {
      readonly kind: 'load';
      readonly typeName: string;
      readonly sources: readonly ConfigSource[];
      readonly options: PipelineOptions;
      /** Workers serve meanwhile. */
      readonly besideTraffic: boolean;
    }
  /** Asks for the positions of problems; answered by `located`. */
  | {
      readonly kind: 'locate';
      readonly sources: readonly ConfigSource[];
      readonly problems: readonly Problem[];
    };

export type PoolReply =
  | {
      readonly kind: 'loaded';
      readonly pieces: Pieces;
      readonly problems: readonly Problem[];
      readonly unknownFieldCount: number;
      readonly featureUses: PipelineResult['featureUses'];
    }
  | { readonly kind: 'located'; readonly problems: readonly Problem[] };

/** The API's catalog, whose types are read when they are first met. */
const catalog = new ApiCatalog();

// Piscina calls the default export of the file that it is given.
// oxlint-disable-next-line import/no-default-export
export default async function runTask(task: PoolTask): Promise<PoolReply> {
  if (task.kind === 'locate') {
    return { kind: 'located', problems: await locateInSources(task.sources, task.problems) };
  }
  if (task.besideTraffic) yieldToTraffic();
  const result = await runPipeline(task.typeName, task.sources, task.options, catalog);
  const isUnusable = result.problems.some(isError) && hasHoles(result.message);
  return {
    kind: 'loaded',
    pieces: splitMessage(isUnusable ? {} : result.message, task.besideTraffic),
    problems: result.problems,
    unknownFieldCount: result.unknownFieldCount,
    featureUses: result.featureUses,
  };
}
