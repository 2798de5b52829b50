/** The list of intended differences names two values that follow from pages of our own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminRoutes } from '../../../../supervisor/admin/admin-routes.ts';
import { renderHelp } from '../../../../supervisor/admin/help.ts';
import { loadPageAssets } from '../../../../supervisor/admin/home/page-assets.ts';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';
import { Profilers } from '../../../../supervisor/profiling/profilers.ts';
import { readIntended } from '../../../conformance/golden.ts';

test('the intended size of the help that /tap answers with is the size of today', () => {
  const routes = adminRoutes({ types: createMessageTypes(), profilers: new Profilers() });
  // A server without a tap filter has no such page.
  const help = renderHelp(routes.filter(({ path }) => path !== '/tap'));
  assert.equal(intended('13 POST /tap | body size'), `invalid path. ${help}`.length);
});

test("the intended policy of our pages' style and script is the one of today", () => {
  const fact = '26 HTML form | header content-security-policy';
  assert.equal(intended(fact), loadPageAssets()?.policy);
});

function intended(fact: string): unknown {
  return readIntended().find((entry) => entry.fact === fact)?.ours;
}
