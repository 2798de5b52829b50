/**
 * Bodies of one worker that wait for bytes of one bucket. At each moment of filling, tenants get
 * their part by weight, and the bodies of a tenant the same part each.
 */
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { TokenBucket } from '../../common/token-bucket.ts';
import { shareOut, type Want } from './share-out.ts';

/** A body that waits. */
export interface ShareMember {
  readonly tenant: string;
  readonly weight: number;
  readonly waitingBytes: number;
  onShare(bytes: number): void;
  onException(): void;
}

export interface ShareSource {
  readonly fillIntervalMs: number;
  /** Undefined: nothing is limited any more. */
  bucket(): TokenBucket | undefined;
}

interface Tenant extends Want {
  readonly members: ShareMember[];
}

export class ShareQueue implements TimerOwner {
  readonly #loop: WorkerLoop;
  readonly #source: ShareSource;
  readonly #onEmpty: () => void;
  readonly #members = new Set<ShareMember>();
  readonly #timer = new LoopTimer(this, 0);

  constructor(loop: WorkerLoop, source: ShareSource, onEmpty: () => void) {
    this.#loop = loop;
    this.#source = source;
    this.#onEmpty = onEmpty;
  }

  add(member: ShareMember): void {
    this.#members.add(member);
    this.#arm();
  }

  remove(member: ShareMember): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
    this.#timer.disarm();
    this.#onEmpty();
  }

  onTimer(): void {
    // The next moment first: a body that fails must not end it for the others.
    this.#arm();
    for (const [member, bytes] of this.#shares()) {
      if (bytes > 0 && this.#members.has(member)) member.onShare(bytes);
    }
  }

  onException(): void {
    for (const member of this.#members) member.onException();
  }

  #arm(): void {
    if (!this.#timer.isArmed) {
      this.#loop.timers.list(this.#source.fillIntervalMs).arm(this.#timer);
    }
  }

  #shares(): readonly (readonly [ShareMember, number])[] {
    const tenants = [...this.#tenants().values()];
    const wanted = tenants.reduce((sum, tenant) => sum + tenant.wanted, 0);
    const bucket = this.#source.bucket();
    const bytes = bucket === undefined ? wanted : bucket.takeUpTo(wanted, this.#loop.clock.ms);
    const parts = shareOut(bytes, tenants);
    return tenants.flatMap(({ members }, index) => {
      const wants = members.map(({ waitingBytes }) => ({ wanted: waitingBytes, weight: 1 }));
      const shares = shareOut(parts[index] ?? 0, wants);
      return members.map((member, place) => [member, shares[place] ?? 0] as const);
    });
  }

  #tenants(): ReadonlyMap<string, Tenant> {
    const tenants = new Map<string, Tenant>();
    for (const member of this.#members) {
      const { tenant: name, weight, waitingBytes } = member;
      const { wanted = 0, members = [] } = tenants.get(name) ?? {};
      members.push(member);
      tenants.set(name, { weight, wanted: wanted + waitingBytes, members });
    }
    return tenants;
  }
}
