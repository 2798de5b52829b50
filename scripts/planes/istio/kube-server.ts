/**
 * An API server of Kubernetes that has nothing: Istio's discovery server does not start without
 * one, even where its configuration is files. Lists are empty, watches say nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface KubeServer extends AsyncDisposable {
  /** A kubeconfig that leads to it. */
  readonly config: string;
}

export async function startKubeServer(): Promise<KubeServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    config: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'none', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'none', user: {} }],
      contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
      'current-context': 'none',
    }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const NOTHING = { metadata: { resourceVersion: '1' }, items: [] };
const ONE_OBJECT = /\/(?:configmaps|secrets|namespaces|leases|\w+webhookconfigurations)\/[^/]+$/;

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://none');
  response.setHeader('content-type', 'application/json');
  const send = (value: object, status = 200): void => {
    response.statusCode = status;
    response.end(JSON.stringify(value));
  };
  if (request.method !== 'GET') {
    request.resume();
    return send(failure('Forbidden', 403), 403);
  }
  if (pathname === '/version') return send({ major: '1', minor: '33', gitVersion: 'v1.33.0' });
  // The client lists in its place.
  if (searchParams.get('sendInitialEvents') === 'true') return send(failure('Invalid', 422), 422);
  if (searchParams.has('watch')) return response.flushHeaders();
  if (ONE_OBJECT.test(pathname)) return send(failure('NotFound', 404), 404);
  const isPartial = String(request.headers.accept).includes('PartialObjectMetadata');
  const kind = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' };
  send(isPartial ? { ...kind, ...NOTHING } : NOTHING);
}

function failure(reason: string, code: number): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code };
}
