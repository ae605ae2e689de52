function [z, err] = lemke(M, q, z0)
% [z, err] = lemke(M, q, z0)   Lemke's method: 0 <= z, M z + q >= 0, z' (M z + q) = 0
%
% err is 0 if z solves the problem, 1 if the limit of pivots was reached, 2 if the method ended on a ray: then z does not
% solve it. RPIsim's never reported the latter. z0 is accepted and not used: every run starts from zero.
%
% As sim.H_solver, @Lemke and @lemke stand for the solver 'lemke' of the library.
%
% Example:
%   [z, err] = lemke([2 1; 1 2], [-1; -1]);
%
% See also pathlcp, pgs, ss_solve
  [z, result] = rpisim_lcp('lemke', M, q, [], 100000, 1e-10);
  err = double(~result.converged);
  if strcmp(result.status, 'ray')
    err = 2;
  end
end
