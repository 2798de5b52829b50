/**
 * Does looking up names hold up the supervisor's loop? Two thousand STRICT_DNS clusters whose name
 * server is silent, slow, or answers at once, beside the same number of STATIC ones, which need no
 * names: the longest time for which the loop was held up in each second, from the moment the server
 * is live, and the CPU time of that second. Wanted: the same as without names. Arguments: clusters
 * (2,000 without), seconds for each (10).
 */
import { existsSync, readFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { decode, encode } from 'dns-packet';
import { bootstrap, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import type { ProbeLine } from './support/loop-probe-main.ts';
import { cpuMs } from './support/processes.ts';

const SLOW_MS = 1500;
const REFRESH_S = 2;
const PROBE = join(import.meta.dirname, 'support', 'loop-probe-main.js');

const [clusters = 2000, seconds = 10] = process.argv.slice(2).map(Number);
const server = createSocket('udp4');
/** Undefined: never. */
let answersAfterMs: number | undefined = 0;
let asked = 0;
server.on('message', (query, { port, address }) => {
  asked += 1;
  if (answersAfterMs === undefined) return;
  const { id = 0, questions = [] } = decode(query);
  const [question] = questions;
  const answers =
    question?.type === 'A'
      ? [{ type: 'A', name: question.name, ttl: 1, data: '127.0.0.1' } as const]
      : [];
  const answer = encode({ type: 'response', id, questions, answers });
  setTimeout(() => server.send(answer, port, address), answersAfterMs);
});
server.bind(0, '127.0.0.1');
await once(server, 'listening');

const without = await measure('no names', (at) => staticCluster(`c${at}`, [80]));
for (const [what, afterMs] of [
  ['a server that answers', 0],
  ['a slow server', SLOW_MS],
  ['a silent server', undefined],
] as const) {
  answersAfterMs = afterMs;
  const longest = await measure(what, named);
  process.stdout.write(`  ${(longest - without).toFixed(1)} ms more than without names\n`);
}
server.close();

async function measure(what: string, make: (at: number) => object): Promise<number> {
  using scratch = makeScratch();
  const probe = scratch.file('probe');
  const made = Array.from({ length: clusters }, (_, at) => ({ ...make(at), name: `c${at}` }));
  const sluice = await startSluice({
    bootstrap: bootstrap({ clusters: made }),
    env: {
      NODE_OPTIONS: `--import=${PROBE} ${process.env['NODE_OPTIONS'] ?? ''}`,
      BENCH_PROBE: probe,
    },
  });
  try {
    // What the start itself left to do.
    await delay(1500);
    const lines = (): readonly ProbeLine[] =>
      existsSync(probe)
        ? readFileSync(probe, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line) as ProbeLine)
            .filter(({ pid }) => pid === sluice.pid)
        : [];
    const before = { lines: lines().length, asked, cpuMs: cpuMs(sluice.pid) };
    await delay(seconds * 1000);
    const blocks = lines()
      .slice(before.lines)
      .map(({ longestBlockMs }) => longestBlockMs)
      .toSorted((left, right) => left - right);
    const [median = 0, longest = 0] = [blocks[blocks.length >> 1], blocks.at(-1)];
    const used = (cpuMs(sluice.pid) - before.cpuMs) / seconds;
    process.stdout.write(
      `${what.padEnd(24)} ${asked - before.asked} questions; longest block of a second: median ` +
        `${median.toFixed(1)} ms, most ${longest.toFixed(1)} ms; ${used.toFixed(0)} ms of CPU per second\n`,
    );
    return longest;
  } finally {
    await sluice.stop();
  }
}

function named(at: number): object {
  const { port } = server.address();
  const resolver = { address: '127.0.0.1', port_value: port };
  return {
    type: 'STRICT_DNS',
    connect_timeout: '1s',
    dns_lookup_family: 'V4_ONLY',
    dns_refresh_rate: `${REFRESH_S}s`,
    dns_failure_refresh_rate: { base_interval: `${REFRESH_S}s`, max_interval: `${REFRESH_S}s` },
    typed_dns_resolver_config: {
      name: 'envoy.network.dns_resolver.cares',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
        resolvers: [{ socket_address: resolver }],
        dns_resolver_options: { no_default_search_domain: true },
        query_timeout_seconds: 2,
        query_tries: 1,
      },
    },
    load_assignment: {
      cluster_name: `c${at}`,
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: {
                address: { socket_address: { address: `name-${at}.test`, port_value: 80 } },
              },
            },
          ],
        },
      ],
    },
  };
}
