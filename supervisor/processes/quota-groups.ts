/**
 * Workers that share quotas of requests: says which of a group owns the stream to the service, and
 * carries what the owner and the others tell each other.
 */
import type { QuotaCommand, QuotaNotice } from '../../shared/messages/quota-steps.ts';

export interface QuotaGroupsOptions {
  /** `isSmall`: sent at any time. False: the worker takes nothing in now. */
  readonly tell: (workerIndex: number, command: QuotaCommand, isSmall: boolean) => boolean;
}

interface Group {
  /** In the order in which they came; the first one owns the stream. */
  readonly members: Set<number>;
  /** Those that were not handed something. */
  readonly lagging: Set<number>;
}

export class QuotaGroups {
  readonly #options: QuotaGroupsOptions;
  readonly #groups = new Map<string, Group>();

  constructor(options: QuotaGroupsOptions) {
    this.#options = options;
  }

  /** The worker in this slot has ended. */
  ended(workerIndex: number): void {
    for (const name of this.#groups.keys()) this.#leave(name, workerIndex);
  }

  noticed(workerIndex: number, { group: name, step }: QuotaNotice): void {
    if (step.step === 'join') return this.#join(name, workerIndex);
    if (step.step === 'leave') return this.#leave(name, workerIndex);
    const group = this.#groups.get(name);
    if (group?.members.has(workerIndex) !== true) return;
    const owner = ownerOf(group);
    if (step.step === 'used') {
      if (owner !== undefined && owner !== workerIndex) this.#tell(owner, name, step);
      this.#catchUp(name, group, workerIndex);
    } else if (owner === workerIndex) {
      for (const member of group.members) {
        if (member !== owner && !this.#tell(member, name, step)) group.lagging.add(member);
      }
    }
  }

  #join(name: string, workerIndex: number): void {
    const group = this.#groups.get(name) ?? { members: new Set(), lagging: new Set() };
    this.#groups.set(name, group);
    group.members.add(workerIndex);
    this.#tellOwner(name, group, workerIndex);
  }

  #leave(name: string, workerIndex: number): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const wasOwner = ownerOf(group) === workerIndex;
    group.members.delete(workerIndex);
    group.lagging.delete(workerIndex);
    if (group.members.size === 0) this.#groups.delete(name);
    else if (wasOwner) {
      for (const member of group.members) this.#tellOwner(name, group, member);
    }
  }

  /** The worker asks for all of its buckets again. */
  #catchUp(name: string, group: Group, workerIndex: number): void {
    if (group.lagging.delete(workerIndex)) this.#tellOwner(name, group, workerIndex);
  }

  #tellOwner(name: string, group: Group, workerIndex: number): void {
    const isByYou = ownerOf(group) === workerIndex;
    this.#options.tell(
      workerIndex,
      { kind: 'quota_command', group: name, step: { step: 'owned', isByYou } },
      true,
    );
  }

  #tell(workerIndex: number, group: string, step: QuotaCommand['step']): boolean {
    return this.#options.tell(workerIndex, { kind: 'quota_command', group, step }, false);
  }
}

function ownerOf({ members }: Group): number | undefined {
  const [owner] = members;
  return owner;
}
