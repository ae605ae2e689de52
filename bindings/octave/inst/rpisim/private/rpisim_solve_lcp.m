function z = rpisim_solve_lcp(solver, A, b)
% rpisim_solve_lcp  One LCP by what sim.H_solver names, or by a function of the user.
  [name, own, iterations] = rpisim_solver_name(solver);
  if own
    z = feval(solver, A, b);
  else
    z = rpisim_lcp(name, A, b, [], iterations, 1e-10);
  end
end
