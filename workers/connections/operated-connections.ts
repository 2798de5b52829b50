/** The open connections of this worker as an operator sees and closes them. */
import type {
  CloseOrder,
  ConnectionPart,
  ConnectionQuestion,
} from '../../shared/connections/connections.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import { Closings } from './closings.ts';
import { ConnectionWalks, type WalkedListener } from './connection-walks.ts';

export class OperatedConnections {
  readonly #walks: ConnectionWalks;
  readonly #closings: Closings;

  constructor(
    { clock, heritage: { workerIndex } }: DataPlaneEnv,
    loop: WorkerLoop,
    listeners: () => readonly WalkedListener[],
  ) {
    this.#walks = new ConnectionWalks({ loop, clock, workerIndex, listeners });
    this.#closings = new Closings({ loop, clock, walks: this.#walks, random: Math.random });
  }

  /** The first rows of a list. */
  async list(question: ConnectionQuestion): Promise<ConnectionPart> {
    return await this.#walks.begin(question);
  }

  /** Rejects for a list that has ended. */
  async listFurther(walk: number): Promise<ConnectionPart> {
    return await this.#walks.next(walk);
  }

  /** Resolves with how many were chosen; rejects when there are too many orders. */
  async close(order: CloseOrder): Promise<number> {
    return await this.#closings.begin(order);
  }
}
