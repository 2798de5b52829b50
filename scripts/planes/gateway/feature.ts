/** One feature of the plane's API: its objects, and a probe of its effect from outside. */
import { type Answer, type Ask, fetchOnce } from '../../../test/support/peers/http-client.ts';
import { check } from '../../programs/trial.ts';
import type { World } from './world.ts';

export interface Feature {
  readonly name: string;
  /** Its listener's fields, where it is not plain HTTP. */
  readonly listener?: object;
  objects(world: World): readonly object[];
  /** Rejects with what was wrong. Tried again until the feature's listener is there. */
  probe(probe: Probe): Promise<void>;
}

export class Probe {
  readonly port: number;
  readonly world: World;

  constructor(port: number, world: World) {
    this.port = port;
    this.world = world;
  }

  ask(path = '/', headers: Ask['headers'] = {}, more: Partial<Ask> = {}): Promise<Answer> {
    return fetchOnce({
      port: this.port,
      path,
      headers: { host: 'tried.test', ...headers },
      ...more,
    });
  }

  async expect(
    wanted: Partial<Pick<Answer, 'status' | 'body'>>,
    path = '/',
    headers: Ask['headers'] = {},
  ): Promise<Answer> {
    const answer = await this.ask(path, headers);
    for (const [field, value] of Object.entries(wanted)) {
      const seen = answer[field as 'status' | 'body'];
      check(seen === value, `${path}: ${field} ${String(seen)} in place of ${String(value)}`);
    }
    return answer;
  }

  /** The headers with which the last request came to the host `web`. */
  async sent(path = '/', headers: Ask['headers'] = {}): Promise<Answer['headers']> {
    await this.expect({ status: 200 }, path, headers);
    return this.world.web.requests.at(-1)?.headers ?? {};
  }
}
