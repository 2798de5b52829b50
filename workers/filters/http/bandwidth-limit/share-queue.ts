/**
 * Bodies of one worker that wait for bytes of one bucket. At each moment of filling, the worker takes
 * its part beside the other workers; of that, tenants get theirs by weight, and the bodies of a tenant the
 * same part each.
 */
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { TokenBucket } from '../../common/token-bucket.ts';
import type { Claimant, ShareClaims } from './share-claims.ts';
import { shareOut } from './share-out.ts';

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
  readonly claims: ShareClaims;
  /** Undefined: nothing is limited any more. */
  bucket(): TokenBucket | undefined;
}

interface Tenant extends Claimant {
  readonly wanted: number;
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
    if (this.#members.size === 1) this.#source.claims.claim(this.#tenants());
    this.#arm();
  }

  remove(member: ShareMember): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
    this.#source.claims.claim([]);
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
    const tenants = this.#tenants();
    const { claims } = this.#source;
    const part = claims.claim(tenants);
    const wants = tenants.map((tenant) => ({
      wanted: tenant.wanted,
      weight: claims.weightHere(tenant),
    }));
    const parts = shareOut(this.#take(part, tenants), wants);
    return tenants.flatMap(({ members }, index) => {
      const each = members.map(({ waitingBytes }) => ({ wanted: waitingBytes, weight: 1 }));
      const shares = shareOut(parts[index] ?? 0, each);
      return members.map((member, place) => [member, shares[place] ?? 0] as const);
    });
  }

  /** What others may have stays in the bucket, and is for everybody again at the next moment. */
  #take(part: number, tenants: readonly Tenant[]): number {
    const wanted = tenants.reduce((sum, tenant) => sum + tenant.wanted, 0);
    const bucket = this.#source.bucket();
    if (bucket === undefined) return wanted;
    const { ms } = this.#loop.clock;
    return bucket.takeUpTo(Math.min(wanted, Math.ceil(bucket.remaining(ms) * part)), ms);
  }

  #tenants(): readonly Tenant[] {
    const tenants = new Map<string, Tenant>();
    for (const member of this.#members) {
      const { tenant, weight, waitingBytes } = member;
      const { wanted = 0, members = [] } = tenants.get(tenant) ?? {};
      members.push(member);
      const bodies = members.length;
      tenants.set(tenant, { tenant, weight, wanted: wanted + waitingBytes, members, bodies });
    }
    return [...tenants.values()];
  }
}
