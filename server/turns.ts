export { SLICE_BYTES as HEAVY_BYTES, sliceOf as inTurn } from './work.ts';
