/**
 * What is counted of commands at the hosts of one cluster: the time of each answer, and by command
 * where the configuration asks for it. Statistics appear with what they first count.
 */
import {
  REDIS_CLUSTER,
  REDIS_UPSTREAM_COMMAND,
  REDIS_UPSTREAM_FAILURE,
  REDIS_UPSTREAM_SUCCESS,
  REDIS_UPSTREAM_TIME,
} from '../../../shared/stats/templates/redis.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import type { StatTemplate } from '../../../shared/stats/template.ts';
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import { countedUpstream } from '../commands.ts';

const COMMAND = REDIS_UPSTREAM_COMMAND.index;

export interface UpstreamCommandStats {
  readonly base: number;
  success: number | undefined;
  failure: number | undefined;
}

export class ClusterCommandStats {
  readonly #writer: StatWriter;
  readonly #prefix: string;
  readonly #base: number;
  readonly #isByCommand: boolean;
  readonly #commands = new Map<string, UpstreamCommandStats>();
  readonly #blocks: number[] = [];
  #timeBase: number | undefined = undefined;

  constructor(writer: StatWriter, cluster: string, isByCommand: boolean) {
    this.#writer = writer;
    this.#prefix = scopePrefix(`cluster.${cluster}.redis_cluster`);
    this.#base = this.#define(REDIS_CLUSTER, '');
    this.#isByCommand = isByCommand;
  }

  count(name: keyof typeof REDIS_CLUSTER.index): void {
    this.#writer.increment(this.#base + REDIS_CLUSTER.index[name]);
  }

  /** A command goes to a host; undefined: commands are not counted each. */
  sent(name: string): UpstreamCommandStats | undefined {
    this.#timeBase ??= this.#define(REDIS_UPSTREAM_TIME, 'upstream_commands.');
    if (!this.#isByCommand) return undefined;
    const stats = this.#statsOf(countedUpstream(name));
    this.#writer.increment(stats.base + COMMAND.total);
    return stats;
  }

  answered(
    command: string,
    stats: UpstreamCommandStats | undefined,
    isGood: boolean,
    micros: number,
  ): void {
    if (this.#timeBase !== undefined) this.#writer.record(this.#timeBase, micros);
    if (stats === undefined) return;
    this.#writer.record(stats.base + COMMAND.latency, micros);
    const prefix = `upstream_commands.${countedUpstream(command)}.`;
    if (isGood) {
      stats.success ??= this.#define(REDIS_UPSTREAM_SUCCESS, prefix);
      this.#writer.increment(stats.success);
    } else {
      stats.failure ??= this.#define(REDIS_UPSTREAM_FAILURE, prefix);
      this.#writer.increment(stats.failure);
    }
  }

  release(): void {
    for (const block of this.#blocks) this.#writer.releaseBlock(block);
  }

  #statsOf(name: string): UpstreamCommandStats {
    let stats = this.#commands.get(name);
    if (stats === undefined) {
      const base = this.#define(REDIS_UPSTREAM_COMMAND, `upstream_commands.${name}.`);
      stats = { base, success: undefined, failure: undefined };
      this.#commands.set(name, stats);
    }
    return stats;
  }

  #define(template: StatTemplate, prefix: string): number {
    const base = this.#writer.defineBlock(template, `${this.#prefix}${prefix}`);
    this.#blocks.push(base);
    return base;
  }
}
