import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { DomainIndex } from '../../../../workers/routing/domain-index.ts';

function index(ignorePort: boolean): DomainIndex<string> {
  const domains = new DomainIndex<string>(ignorePort);
  const hosts: Readonly<Record<string, readonly string[]>> = {
    dom: [
      'exact.test',
      'port.test:80',
      '*.wild.test',
      '*.deep.wild.test',
      'pre.*',
      'pre.long.*',
      '*-dash.test',
      'UP.test',
    ],
    dom2: ['*.w.wild.test', 'pre.long.x.*', 'both.wild.test', '[::1]', '[::1]:80'],
    star: ['*'],
  };
  for (const [host, names] of Object.entries(hosts)) {
    for (const name of names) domains.add(name, host);
  }
  return domains;
}

// Recorded from Envoy 1.40.0.
describe('virtual host choice', () => {
  it('prefers the exact domain, then the longest suffix, then the longest prefix, then *', () => {
    const domains = index(false);
    const table: Readonly<Record<string, string>> = {
      'exact.test': 'dom',
      'EXACT.test': 'dom',
      'exact.test:80': 'star',
      'port.test:80': 'dom',
      'port.test': 'star',
      'a.wild.test': 'dom',
      'wild.test': 'star',
      '.wild.test': 'star',
      'a.b.wild.test': 'dom',
      'x.w.wild.test': 'dom2',
      'a.deep.wild.test': 'dom',
      'pre.x': 'dom',
      'pre.': 'star',
      pre: 'star',
      'pre.long.x.z': 'dom2',
      'pre.wild.test': 'dom',
      'a-dash.test': 'dom',
      '-dash.test': 'star',
      'both.wild.test': 'dom2',
      'up.test': 'dom',
      '[::1]': 'dom2',
      '[::1]:80': 'dom2',
      'a.wild.test:80': 'star',
      'pre.x:80': 'dom',
      '': 'star',
    };
    for (const [authority, host] of Object.entries(table)) {
      assert.equal(domains.find(authority), host, authority);
    }
  });

  it('looks at no port where ports are ignored', () => {
    const domains = index(true);
    const table: Readonly<Record<string, string>> = {
      'exact.test:80': 'dom',
      'port.test:80': 'star',
      'port.test': 'star',
      'a.wild.test:8': 'dom',
      '[::1]:80': 'dom2',
      '[::1]': 'dom2',
      'exact.test:': 'dom',
      'exact.test:a': 'dom',
    };
    for (const [authority, host] of Object.entries(table)) {
      assert.equal(domains.find(authority), host, authority);
    }
  });

  it('finds nothing when no domain fits and there is no *', () => {
    const domains = new DomainIndex<string>(false);
    domains.add('a', 'a');
    assert.equal(domains.find('b'), undefined);
    assert.equal(new DomainIndex<string>(false).find('b'), undefined);
  });

  it('chooses as a search over all domains would', () => {
    const label = fc.stringMatching(/^[ab.]{1,4}$/);
    const domain = fc.oneof(
      label,
      label.map((text) => `*${text}`),
      label.map((text) => `${text}*`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(domain, { maxLength: 12 }), label, (names, authority) => {
        const domains = new DomainIndex<string>(false);
        for (const name of names) domains.add(name, name);
        assert.equal(domains.find(authority), slowChoice(names, authority));
      }),
    );
  });
});

function slowChoice(names: readonly string[], authority: string): string | undefined {
  if (names.includes(authority)) return authority;
  const longest = (fitting: readonly string[]) =>
    fitting.toSorted((a, b) => b.length - a.length)[0];
  const isLonger = (name: string) => authority.length > name.length - 1;
  return (
    longest(
      names.filter((n) => n.startsWith('*') && isLonger(n) && authority.endsWith(n.slice(1))),
    ) ??
    longest(
      names.filter((n) => n.endsWith('*') && isLonger(n) && authority.startsWith(n.slice(0, -1))),
    )
  );
}
