export { SLICE_BYTES as HEAVY_BYTES, slice as heavy, sliceOf as inTurn } from './work.ts';
