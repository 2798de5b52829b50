import { type HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { type DataPlaneSetup } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';

/** A data plane with one HTTP filter in front of the router, and what a client asks it. */

const ROUTER: HttpFilter = {
  kind: 'router',
  name: 'router',
  options: {
    suppressEnvoyHeaders: false,
    respectExpectedRqTimeout: false,
    upstreamLogs: [],
    dynamicStats: true,
    startChildSpan: false,
  },
};

export async function ask(port: number, path: string, headers = ''): Promise<string> {
  const client = await openRaw(port);
  client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}Connection: close\r\n\r\n`);
  const answer = await client.closed();
  client.destroy();
  return answer;
}

export function withFilter(filter: HttpFilter, setup: DataPlaneSetup): DataPlaneSetup {
  return { ...setup, manager: { ...setup.manager, filters: [filter, ROUTER] } };
}
