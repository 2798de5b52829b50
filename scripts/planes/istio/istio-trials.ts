/** Istio drives three sidecars: mutual TLS, who may do what, tokens, splits and faults. */
import { freePort } from '../../../test/support/free-port.ts';
import { makeAuthority } from '../../../test/support/parts/certificates.ts';
import { bearer, makeSigner } from '../../../test/support/parts/tokens.ts';
import { type Answer, fetchOnce } from '../../../test/support/peers/http-client.ts';
import { startHttpUpstream } from '../../../test/support/peers/upstream.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { trialWithGo } from '../../programs/go-programs.ts';
import { check, passed, type Trial, type TrialOutcome } from '../../programs/trial.ts';
import type { DataPlane } from '../data-plane.ts';
import { APIS, istioObjects, WEB } from './istio-objects.ts';
import { startIstio, startSidecar } from './istio-plane.ts';

const SPLIT_REQUESTS = 40;

export function istioTrials(proxy: DataPlane): readonly Trial[] {
  return [trialWithGo(`Istio with ${proxy}: istio features`, () => features(proxy))];
}

async function features(proxy: DataPlane): Promise<TrialOutcome> {
  using scratch = makeScratch();
  const authority = makeAuthority(scratch.path);
  const signer = makeSigner('RS256');
  await using one = await startHttpUpstream((_, response) => response.end('one'));
  await using two = await startHttpUpstream((_, response) => response.end('two'));
  const ports = {
    service: await freePort(),
    inbound: await freePort(),
    hosts: [one.port, two.port],
  };
  await using plane = await startIstio(istioObjects(ports, signer));
  await using first = await startSidecar(APIS[0] ?? WEB, plane, authority, proxy);
  await using second = await startSidecar(APIS[1] ?? WEB, plane, authority, proxy);
  await using web = await startSidecar(WEB, plane, authority, proxy);
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    fetchOnce({ port: ports.service, path, headers: { host: 'api.test', ...headers } });
  const expect = async (status: number, path: string, headers = {}): Promise<Answer> => {
    const answer = await ask(path, headers);
    check(answer.status === status, `${path}: ${answer.status} ${answer.body}`);
    return answer;
  };
  const isServed = async (): Promise<boolean> =>
    (await ask('/').catch(() => ({ status: 0 }))).status === 200;
  await waitUntil('the service', isServed);

  const bodies = new Set<string>();
  for (let count = 0; count < SPLIT_REQUESTS; count++) bodies.add((await expect(200, '/')).body);
  check(bodies.size === 2, `split: ${[...bodies].join()}`);
  const canary = await expect(200, '/', { 'x-canary': 'yes' });
  check(canary.body === 'two', `canary: ${canary.body}`);
  const sent = String(two.requests.at(-1)?.headers['x-forwarded-client-cert']);
  check(sent.includes('spiffe://cluster.local/ns/default/sa/web'), sent);
  await expect(418, '/fault');
  await expect(403, '/secret/part');
  await expect(403, '/jwt');
  await expect(401, '/', bearer('no.token.here'));
  const exp = Math.floor(Date.now() / 1000) + 600;
  await expect(200, '/jwt', bearer(signer.sign({ iss: 'tried', sub: 'me', exp })));
  check(!(await answersInPlain(ports.inbound)), 'an answer in plain text');
  for (const each of [first, second, web]) {
    const refused = (await each.stats('update_rejected')).trim();
    check(refused === '', `${refused} ${each.output()}`);
  }
  return passed('three sidecars: split, header, fault, mutual TLS, two policies, tokens');
}

/** Whether a sidecar takes a request without TLS, which STRICT forbids. */
async function answersInPlain(port: number): Promise<boolean> {
  const response = await fetch(`http://${APIS[0]?.address}:${port}/`).catch(() => undefined);
  return response !== undefined;
}
