import { proxyTo } from '../../support/parts/bootstrap.ts';
import type { ConformanceCase, Question } from '../case.ts';

const page = (path: string, method = 'GET'): Question => ({
  kind: 'admin',
  label: `${method} ${path}`,
  path,
  method,
});

export const admin: ConformanceCase = {
  name: 'admin',
  title: 'Admin pages: methods, unknown paths, listings',
  bootstrap: (upstreamPort) => proxyTo(upstreamPort),
  questions: [
    page('/ready'),
    page('/ready', 'POST'),
    page('/listeners'),
    page('/listeners?format=json'),
    page('/clusters'),
    page('/clusters?format=json'),
    page('/config_dump?resource=static_listeners'),
    page('/config_dump?resource=static_route_configs'),
    page('/config_dump?resource=static_clusters&mask=cluster.name'),
    page('/config_dump?mask=nosuch'),
    page('/config_dump?resource=nosuch'),
    page('/config_dump?name_regex=['),
    page('/quitquitquit'),
    page('/drain_listeners'),
    page('/logging'),
    page('/stats?format=nosuch'),
    page('/stats?filter=['),
    page('/stats?type=nosuch'),
    page('/stats?usedonly&filter=^cluster.up.membership'),
    page('/stats?format=json&filter=^cluster.up.membership'),
    page('/stats/prometheus?filter=^cluster.up.membership'),
  ],
};
