/** What a sink is to the flush cycle. */
import type { FlushSnapshot } from './flush-snapshot.ts';

export interface StatsSink {
  /** Hands one flush on. Rejects when it could not; the values of that flush are lost then. */
  flush(snapshot: FlushSnapshot): Promise<void>;
  /** Resolves when what was handed over is sent, where a sink can know. */
  close(): void | Promise<void>;
}
