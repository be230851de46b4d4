module.exports = {
  globalSetup: './setup.cjs',
  globalTeardown: './teardown.cjs',
  testEnvironment: 'node',
  testMatch: ['**/*.test.cjs'],
};
