export { findProvider, providerNames } from './providers.ts';
