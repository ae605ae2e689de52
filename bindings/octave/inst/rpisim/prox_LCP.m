function [x, err, iter, flag] = prox_LCP(A, b, varargin)
% [x, err, iter, flag] = prox_LCP(A, b, x0, max_iter, tol_rel, tol_abs)   proximal fixed-point iteration
%
% 0 <= x, A x + b >= 0, x' (A x + b) = 0. err is the natural merit 0.5 norm(min(x, A x + b))^2; flag is 3 (converged)
% or 8 (limit of iterations, or no further progress), after num4lcp. The run ends when the relative energy error is
% below tol_rel (1e-4); tol_abs and what follows are accepted and not used.
%
% As sim.H_solver it stands for the solver 'projected-fixed-point' of the library.
%
% Example:
%   x = prox_LCP([2 1; 1 2], [-1; -1]);
%
% See also lemke, ss_solve
  [x, err, iter, flag] = rpisim_num4lcp('projected-fixed-point', A, b, varargin{:});
end
