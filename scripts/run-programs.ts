/**
 * Runs real programs through the real server, unchanged: clients, servers on the other side,
 * tunnels, streams. Each says one line with what it measured; a program that is not installed is
 * left out with a word. Loopback only. Not part of `npm test`: npm run test:programs
 */
import { httpClients } from './programs/http-clients.ts';
import { databases } from './programs/databases.ts';
import { gitClone } from './programs/git-clone.ts';
import { otherProxies } from './programs/other-proxies.ts';
import { opensslClient } from './programs/openssl.ts';
import { http2Clients } from './programs/http2/clients.ts';
import { grpcInterop } from './programs/http2/grpc-interop.ts';
import { grpcPrograms } from './programs/http2/grpc.ts';
import { grpcWeb } from './programs/http2/grpc-web.ts';
import { http2Proxies } from './programs/http2/other-proxies.ts';
import { restarts } from './programs/http2/restarts.ts';
import { redisPrograms } from './programs/redis.ts';
import { runTrials } from './programs/run-trials.ts';
import { prometheus } from './programs/prometheus.ts';
import { taps } from './programs/taps.ts';
import type { Trial } from './programs/trial.ts';
import { streams } from './programs/streams.ts';

const trials: readonly Trial[] = [
  ...httpClients,
  ...streams,
  ...otherProxies,
  ...databases,
  ...redisPrograms,
  gitClone,
  opensslClient,
  ...http2Clients,
  ...http2Proxies,
  ...grpcPrograms,
  ...grpcWeb,
  ...grpcInterop,
  ...restarts,
  ...taps,
  ...prometheus,
];
process.exitCode = (await runTrials(trials, process.argv[2] ?? '')) > 0 ? 1 : 0;
