import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../../support/parts/bootstrap.ts';
import { errorsOf, resolveConfig } from './resolve-text.ts';

const FILTERS = 'type.googleapis.com/envoy.extensions.filters.http';
const CONFIG = { '@type': `${FILTERS}.header_to_metadata.v3.Config` };
const ROUTER = { name: 'router', typed_config: { '@type': `${FILTERS}.router.v3.Router` } };
const NEITHER = 'has neither `on_header_present` nor `on_header_missing` set';
const NO_VALUE = 'Cannot specify on_header_missing rule with an empty value';
const rewrite = (regex: string): object => ({ pattern: { regex }, substitution: 'b' });
const present = (entry: object): object => ({
  header: 'a',
  on_header_present: { key: 'k', ...entry },
});
const missing = (entry: object): object => ({
  header: 'a',
  on_header_missing: { key: 'k', ...entry },
});

function chain(filter: object, ofRoute?: object): object {
  const perFilter = ofRoute === undefined ? {} : { typed_per_filter_config: { meta: ofRoute } };
  const route = { match: { prefix: '/' }, direct_response: { status: 200 }, ...perFilter };
  const filters = [{ name: 'meta', typed_config: filter }, ROUTER];
  return bootstrap({ listeners: [httpListener([route], { hcm: { http_filters: filters } })] });
}

const WRONG: readonly (readonly [rule: object, error: string])[] = [
  [{ on_header_present: { key: 'k' } }, 'One of Cookie or Header option needs to be specified'],
  [{ ...present({}), cookie: 'b' }, 'Cannot specify both header and cookie in the same rule'],
  [{ header: 'A' }, `header to metadata filter: rule for header 'a' ${NEITHER}`],
  [{ cookie: 'a' }, `header to metadata filter: rule for cookie 'a' ${NEITHER}`],
  [missing({}), NO_VALUE],
  [missing({ regex_value_rewrite: rewrite('a') }), NO_VALUE],
  [
    present({ value: 'v', regex_value_rewrite: rewrite('a') }),
    'Cannot specify both value and regex_value_rewrite',
  ],
  [present({ regex_value_rewrite: rewrite('a(') }), 'missing ): a('],
  [
    { cookie: 'a', on_header_present: { key: 'k' }, remove: true },
    'Cannot specify remove for cookie',
  ],
];

describe('header_to_metadata', () => {
  for (const [rule, error] of WRONG) {
    it(`is refused in Envoy's words: ${JSON.stringify(rule)}`, async () => {
      for (const field of ['request_rules', 'response_rules']) {
        const config = { ...CONFIG, [field]: [rule] };
        for (const text of [chain(config), chain(CONFIG, config)]) {
          const errors = await errorsOf(text);
          assert.deepEqual(
            errors.map(({ message }) => message),
            [error],
          );
        }
      }
    });
  }

  it('may be empty in a chain, not in a route', async () => {
    assert.equal((await resolveConfig(chain(CONFIG))).kind, 'resolved');
    const [problem] = await errorsOf(chain(CONFIG, { ...CONFIG, stat_prefix: 'x' }));
    assert.match(problem?.message ?? '', /^header_to_metadata_filter: Per filter configs must/);
  });

  it('says that nothing is rewritten where a header is missing', async () => {
    const rule = missing({ value: 'v', regex_value_rewrite: rewrite('a(') });
    const outcome = await resolveConfig(chain({ ...CONFIG, request_rules: [rule] }));
    assert.equal(outcome.kind, 'resolved');
    const { problems } = outcome.resolution;
    assert.deepEqual(
      problems.map(({ severity, rule: name }) => [severity, name]),
      [['warning', 'no_effect']],
    );
  });
});
