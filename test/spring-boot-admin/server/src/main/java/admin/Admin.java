package admin;

import de.codecentric.boot.admin.server.config.EnableAdminServer;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The Spring Boot Admin server as it comes: nothing of it is changed. */
@SpringBootApplication
@EnableAdminServer
public class Admin {
  public static void main(String[] arguments) {
    SpringApplication.run(Admin.class, arguments);
  }
}
