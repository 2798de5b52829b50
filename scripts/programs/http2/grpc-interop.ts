/** The interop client and server of grpc-go, all cases that need no cloud, through Sluice. */
import { spawn, spawnSync } from 'node:child_process';
import { freePort } from '../../../test/support/free-port.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitForPort } from '../../bench/support/processes.ts';
import { check, passed, type Trial, type TrialOutcome } from '../trial.ts';
import { built, INTEROP_CLIENT, INTEROP_SERVER, trialWithGo } from '../go-programs.ts';
import { HOST, isAllOver, makeSecure, type Secure, startBetween } from './sides.ts';

/** Those of clouds, of ORCA and `pick_first_unary` fail with this server without a proxy, too. */
const CASES = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
  'rpc_soak',
  'channel_soak',
];
const CASE_LIMIT_MS = 60_000;

export const grpcInterop: readonly Trial[] = [
  trialWithGo('grpc-go interop in the clear', () => interop(false)),
  trialWithGo('grpc-go interop over TLS on both sides', () => interop(true)),
];

async function interop(isSecure: boolean): Promise<TrialOutcome> {
  const [client, server] = [await built(INTEROP_CLIENT), await built(INTEROP_SERVER)];
  using scratch = makeScratch();
  const secure = isSecure ? makeSecure(scratch.path) : undefined;
  const upstreamPort = await freePort();
  const running = spawn(server, serverArguments(upstreamPort, secure), { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()));
  try {
    await waitForPort(upstreamPort);
    await using sluice = await startBetween({
      upstreamPort,
      ...(secure === undefined ? {} : { secure }),
    });
    const wrong = CASES.flatMap((name) => failureOf(client, name, sluice.port, secure));
    check(wrong.length === 0, wrong.join('; '));
    await isAllOver(sluice);
    const calls = await sluice.stat('cluster.up.upstream_rq_total');
    return passed(`${CASES.length} cases of ${CASES.length}, ${calls} calls`);
  } finally {
    running.kill('SIGKILL');
    await ended;
  }
}

function serverArguments(port: number, secure: Secure | undefined): readonly string[] {
  if (secure === undefined) return [`-port=${port}`];
  const { certPath, keyPath } = secure.leaf;
  return [`-port=${port}`, '-use_tls', `-tls_cert_file=${certPath}`, `-tls_key_file=${keyPath}`];
}

/** Blocks: nothing else of this process takes part in a case. */
function failureOf(
  client: string,
  name: string,
  port: number,
  secure: Secure | undefined,
): readonly string[] {
  const tls =
    secure === undefined
      ? []
      : ['-use_tls', '-use_test_ca', `-ca_file=${secure.authority.certPath}`];
  const place = [`-server_host=${HOST}`, `-server_port=${port}`, `-test_case=${name}`];
  const run = spawnSync(client, [...place, ...tls], { encoding: 'utf8', timeout: CASE_LIMIT_MS });
  return run.status === 0 ? [] : [`${name}: ${run.stderr.slice(-300)}`];
}
