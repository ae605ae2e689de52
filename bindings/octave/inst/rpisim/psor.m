function [x, err, iter, flag] = psor(A, b, x0, max_iter, tol_rel, tol_abs, varargin)
% [x, err, iter, flag] = psor(A, b, x0, max_iter, tol_rel, tol_abs)   projected Gauss-Seidel with over-relaxation
%
% 0 <= x, A x + b >= 0, x' (A x + b) = 0. err is the natural merit 0.5 norm(min(x, A x + b))^2; flag is 3 (converged)
% or 8 (limit of iterations, or no further progress), after num4lcp. The run ends when the relative energy error is
% below tol_rel (1e-4); tol_abs and what follows are accepted and not used.
%
% As sim.H_solver it stands for the solver 'psor' of the library.
%
% Example:
%   x = psor([2 1; 1 2], [-1; -1]);
%
% See also lemke, ss_solve
  if nargin < 3
    x0 = [];
  end
  if nargin < 4 || isempty(max_iter)
    max_iter = max(100, floor(numel(b) / 2));
  end
  if nargin < 5 || isempty(tol_rel)
    tol_rel = 1e-4;
  end
  [x, result] = rpisim_lcp('psor', A, b, x0, max_iter, tol_rel);
  err = 0.5 * norm(min(x, A * x + b(:))) ^ 2;
  iter = result.iterations;
  flag = 3 + 5 * double(~result.converged);
end
