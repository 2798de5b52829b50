/**
 * Runs inside a network of its own whose kernel redirects ports 7001 and 7002 to 7000: prints as
 * JSON what clients of each port are answered, and the address that the access log shows.
 */
import { readFileSync } from 'node:fs';
import { bootstrap } from '../parts/bootstrap.ts';
import { openRaw } from '../peers/raw-client.ts';
import { makeScratch } from '../scratch.ts';
import { startSluice } from './sluice.ts';
import { fileLog, networkFilter } from '../parts/tcp-listener.ts';
import { waitUntil } from '../wait.ts';

using scratch = makeScratch();
const log = scratch.file('front.log');

function answering(name: string, port: number, fields: object): object {
  const response = { inline_string: name };
  return {
    name,
    address: { socket_address: { address: '127.0.0.1', port_value: port } },
    filter_chains: [
      { filters: [networkFilter('direct_response', 'direct_response.v3.Config', { response })] },
    ],
    ...fields,
  };
}

const front = answering('front', 7000, {
  use_original_dst: true,
  access_log: [fileLog(log, '%DOWNSTREAM_LOCAL_ADDRESS%')],
});
const behind = answering('behind', 7001, { bind_to_port: false });
await using sluice = await startSluice({
  bootstrap: bootstrap({ listeners: [front, behind] }),
  args: ['--file-flush-interval-msec', '10'],
});
await sluice.listenerPort('front');
const answers: string[] = [];
for (const port of [7000, 7001, 7002]) answers.push(await (await openRaw(port)).closed());
const logged = await waitUntil('two lines', () => {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return lines.length === 2 && lines;
});
process.stdout.write(JSON.stringify({ answers, logged }));
