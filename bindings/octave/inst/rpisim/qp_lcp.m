function [x, err, iter, flag] = qp_lcp(A, b, varargin)
% [x, err, iter, flag] = qp_lcp(A, b)   a symmetric LCP as a quadratic program
%
% 0 <= x, A x + b >= 0, x' (A x + b) = 0, A symmetric and positive semidefinite. err, flag: as for pgs. As sim.H_solver it
% stands for the solver 'qp' of the library.
%
% Example:
%   x = qp_lcp([2 1; 1 2], [-1; -1]);
%
% See also pgs, lemke, ss_solve
  [x, result] = rpisim_lcp('qp', A, b, [], 10000, 1e-10);
  err = 0.5 * norm(min(x, A * x + b(:))) ^ 2;
  iter = result.iterations;
  flag = 3 + 5 * double(~result.converged);
end
