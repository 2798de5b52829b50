import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import type { ConformanceCase } from '../case.ts';

const respond = (status: number, body: string): object => ({
  direct_response: { status, body: { inline_string: body } },
});

const routes: readonly object[] = [
  { match: { path: '/exact' }, ...respond(200, 'exact') },
  { match: { safe_regex: { regex: '/item/[0-9]+' } }, ...respond(201, 'item') },
  {
    match: { prefix: '/gold', headers: [{ name: 'x-kind', string_match: { exact: 'gold' } }] },
    ...respond(200, 'gold'),
  },
  {
    match: { prefix: '/old' },
    redirect: { prefix_rewrite: '/new', response_code: 'FOUND', strip_query: true },
  },
  { match: { prefix: '/secure' }, redirect: { https_redirect: true } },
  {
    match: { prefix: '/api/' },
    route: { cluster: 'up', prefix_rewrite: '/', host_rewrite_literal: 'inner.test' },
    request_headers_to_add: [
      { header: { key: 'x-added', value: '%REQ(:METHOD)%-%PROTOCOL%' } },
      { header: { key: 'x-over', value: 'new' }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
    ],
    request_headers_to_remove: ['x-drop'],
    response_headers_to_add: [{ header: { key: 'x-code', value: '%RESPONSE_CODE%' } }],
  },
  {
    match: { prefix: '/rx/' },
    route: {
      cluster: 'up',
      regex_rewrite: { pattern: { regex: '^/rx/([^/]+)/(.*)$' }, substitution: '/\\2/from/\\1' },
    },
  },
  { match: { prefix: '/plain' }, route: { cluster: 'up' } },
];

export const routing: ConformanceCase = {
  name: 'routing',
  title: 'Route matches, rewrites, redirects and header changes',
  bootstrap: (upstreamPort) =>
    bootstrap({
      listeners: [httpListener(routes)],
      clusters: [staticCluster('up', [upstreamPort])],
    }),
  questions: [
    { kind: 'http', label: 'an exact path', listener: 'web', path: '/exact' },
    { kind: 'http', label: 'an exact path with a query', listener: 'web', path: '/exact?a=b' },
    { kind: 'http', label: 'an exact path and more', listener: 'web', path: '/exact/' },
    { kind: 'http', label: 'a regex and status 201', listener: 'web', path: '/item/42' },
    { kind: 'http', label: 'a regex must match the whole path', listener: 'web', path: '/item/4x' },
    {
      kind: 'http',
      label: 'a header match',
      listener: 'web',
      path: '/gold',
      headers: { 'x-kind': 'gold' },
    },
    { kind: 'http', label: 'a header that is not there', listener: 'web', path: '/gold' },
    { kind: 'http', label: 'a prefix redirect', listener: 'web', path: '/old/path?query=1' },
    { kind: 'http', label: 'a redirect to https', listener: 'web', path: '/secure?x=1' },
    {
      kind: 'http',
      label: 'rewritten, with headers changed',
      listener: 'web',
      path: '/api/users?id=7',
      method: 'POST',
      headers: { 'x-drop': '1', 'x-over': 'old', 'x-keep': 'kept' },
      body: 'payload',
    },
    { kind: 'http', label: 'a regex rewrite', listener: 'web', path: '/rx/one/two?three' },
    { kind: 'http', label: 'passed on unchanged', listener: 'web', path: '/plain' },
    { kind: 'http', label: 'HEAD has no body', listener: 'web', path: '/plain', method: 'HEAD' },
    {
      kind: 'admin',
      label: 'counted',
      path: '/stats?filter=^(http.web|cluster.up.upstream_rq).*(rq_[1-5]xx|rq_total|no_route|redirect|direct_response)$',
    },
  ],
};
