/** What a protocol brings along for those who know none: where its connections count, how they end. */
import type { ShedPoint } from '../../shared/resources/overload.ts';
import type { StatTemplate } from '../../shared/stats/template.ts';

export interface ProtocolTraits {
  /** Several streams at once: one answer ends none of the others, and a drain takes two steps. */
  readonly isMultiplexed: boolean;
  /** Offsets in the block of the connection manager. */
  readonly connectionsTotal: number;
  readonly connectionsActive: number;
  readonly requestsTotal: number;
  /** The gauge of connections that end with their next answer; absent where there are none. */
  readonly softDrain?: number;
  /** Where one read may be refused for overload, which ends the connection. */
  readonly shedsAt?: ShedPoint;
  /** Where the client may be told to go, and that the connection ends at once. */
  readonly endsAt?: ShedPoint;
  /** Where the client may be asked to go; its requests are served. */
  readonly asksToLeaveAt?: ShedPoint;
  /** The codec's own block, which exists once the codec was used. */
  readonly block: StatTemplate;
  /** Prefix of its names. */
  readonly scope: string;
  /** Offsets in it: headers dropped and requests refused for underscores in names. */
  readonly droppedHeaders: number;
  readonly refusedUnderscores: number;
  /** Metadata that cannot be sent; absent where it can. */
  readonly unsupportedMetadata?: number;
}
