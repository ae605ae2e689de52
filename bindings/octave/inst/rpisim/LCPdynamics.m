function sim = LCPdynamics(sim)
% sim = LCPdynamics(sim)   Stewart and Trinkle's LCP of sim.dynamics, solved by sim.H_solver; sets sim.newNU
%
% As sim.H_dynamics it stands for the formulation 'stewart-trinkle' of the library, and this m-function is not called.
% It is here to be called from dynamics of your own, after preDynamics, and to be read. Without friction if
% sim.FRICTION is false. Impulses are left in sim.dynamics: pn, pf, and s, the sliding speeds.
%
% See also preDynamics, Simulator, lemke
  D = sim.dynamics;
  h = sim.h;
  nc = numel(D.PSI);
  nv = numel(D.NU);
  nj = size(D.Gb, 2);

  % Velocities for given impulses p: [M -Gb; Gb' 0] [v; pb] = [M nu + h f + G p; -joint_bn]
  K = [D.M, -D.Gb; D.Gb', sparse(nj, nj)];
  free = K \ [D.M * D.NU + h * D.FX; -D.joint_bn];
  G = D.Gn;
  if sim.FRICTION
    G = [D.Gn, D.Gf];
  end
  moved = K \ [full(G); zeros(nj, size(G, 2))];
  moved = moved(1:nv, :);
  A = G' * moved;
  b = G' * free(1:nv);
  b(1:nc) = b(1:nc) + D.PSI / h;
  if sim.FRICTION
    nf = size(D.Gf, 2);
    A = [A, [zeros(nc); D.E]; [D.U, -D.E', zeros(nc)]];
    b = [b; zeros(nc, 1)];
  end
  z = rpisim_solve_lcp(sim.H_solver, full(A), full(b));
  p = z(1:size(G, 2));
  sim.newNU = free(1:nv) + moved * p;
  sim.dynamics.pn = p(1:nc);
  if sim.FRICTION
    sim.dynamics.pf = p(nc + 1:nc + nf);
    sim.dynamics.s = z(nc + nf + 1:end);
  end
  w = A * z + b;
  sim.solution_error = [sim.solution_error, max([0; -z; -w])];
end
