/** The code behind the package export `sluice/testing`; its declarations are testing-api.ts's. */
export { serveFilter } from './serve-filter.ts';
export { testFilter } from './test-filter.ts';
